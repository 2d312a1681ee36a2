"""Several refinements at once, up to the setting; the others wait, are seen to, and can be cancelled."""

import asyncio

import pytest

from .conftest import EVERYTHING, FILES, without

NAMES = ("double", "one", "two", "three")
MORE = {
    "m.py": FILES["m.py"] + "".join(f"\n\ndef {name}(x):\n    return x\n" for name in NAMES[1:]),
    "test_m.py": FILES["test_m.py"]
    + "".join(f"\n\ndef test_{name}():\n    assert double(5) == 10\n" for name in NAMES[1:]),
}


@pytest.fixture
async def crowd(editor, project):
    """An editor on a project with four red tests."""
    for name, text in MORE.items():
        (project / name).write_text(text)
    return editor


async def refine(editor, name):
    await editor.execute("greenloop.refine", target(editor, name))


def target(editor, name):
    return {"uri": editor.uri("test_m.py"), "test": f"test_m.py::test_{name}"}


def selector(editor, name):
    return {"uri": editor.uri("test_m.py"), "target": f"test_m.py::test_{name}"}


async def reported(editor, text):
    return await editor.wait(
        lambda m: m.get("method") == "$/progress" and text in (m["params"]["value"].get("message") or ""),
        f"progress with {text!r}",
    )


async def waits(editor, name, ahead):
    wanted = f"Refining test_{name}: waiting, {ahead} ahead of it"
    await editor.diagnosed(lambda items: any(item["message"] == wanted for item in items))


async def called(editor, *names, side_by_side=False):
    """Waits until the engine was asked for these, and no others, in this order unless they are begun together."""
    wanted = [f"test_m.py::test_{name}" for name in names]
    calls = []
    async with asyncio.timeout(20):
        while len(calls) < len(wanted):
            calls = (await editor.state())["calls"]
    assert (sorted(calls) if side_by_side else calls) == wanted


async def under_way(editor, count):
    await editor.diagnosed(lambda items: sum("attempt 1/" in item["source"] for item in items) == count)


@pytest.mark.story("several refinements run, others wait")
async def test_as_many_at_once_as_set_and_the_others_are_seen_to_wait(crowd):
    await crowd.start(model="play:hold", editor={"runs": 2})
    for name in NAMES:
        await refine(crowd, name)
    await under_way(crowd, 2)
    await waits(crowd, "two", 2)
    await waits(crowd, "three", 3)
    await reported(crowd, "waiting, 3 ahead of it")
    await called(crowd, "double", "one", side_by_side=True)
    hover = await crowd.hover("test_m.py", 15)
    assert "waiting, 3 ahead of it" in hover["value"]
    titles = [action["title"] for action in await crowd.actions(line=15)]
    assert titles == ["Cancel refinement: test_three"]


async def test_first_come_first_served(crowd):
    await crowd.start(model="play:hold", editor={"runs": 1})
    for name in NAMES:
        await refine(crowd, name)
    await waits(crowd, "three", 3)
    await crowd.call("test/go")
    await called(crowd, *NAMES)


@pytest.mark.story("several refinements run, others wait")
async def test_a_queued_run_can_be_cancelled_and_those_behind_move_up(crowd):
    await crowd.start(model="play:hold", editor={"runs": 1})
    await refine(crowd, "double")
    number = crowd.request("greenloop/refine", target(crowd, "one"))
    await refine(crowd, "two")
    await waits(crowd, "two", 2)
    assert await crowd.execute("greenloop.cancel", selector(crowd, "one")) == 1
    assert (await crowd.reply(number))["result"]["reason"] == "cancelled"
    await waits(crowd, "two", 1)
    await called(crowd, "double")
    await crowd.execute("greenloop.cancel", selector(crowd, "double"))
    await called(crowd, "double", "two")


async def test_by_cancel_request_and_by_the_progress_button(crowd):
    await crowd.start(model="play:hold", editor={"runs": 1})
    await refine(crowd, "double")
    await called(crowd, "double")
    number = crowd.request("greenloop/refine", target(crowd, "one"))
    await waits(crowd, "one", 1)
    crowd.notify("$/cancelRequest", {"id": number})
    assert "error" in await crowd.reply(number)
    await refine(crowd, "two")
    await waits(crowd, "two", 1)
    begun = await crowd.wait(lambda m: m.get("method") == "$/progress" and "test_two" in str(m), "its progress")
    token = begun["params"]["token"]
    crowd.notify("window/workDoneProgress/cancel", {"token": token})
    await crowd.wait(
        lambda m: (
            m.get("method") == "$/progress" and m["params"]["token"] == token and m["params"]["value"]["kind"] == "end"
        )
    )
    state = await crowd.state()
    assert (state["calls"], state["cancelled"]) == (["test_m.py::test_double"], 0)


async def test_who_asks_twice_joins_the_queued_run(crowd):
    await crowd.start(model="play:hold", editor={"runs": 1})
    await refine(crowd, "double")
    await refine(crowd, "one")
    number = crowd.request("greenloop/refine", target(crowd, "one"))
    await waits(crowd, "one", 1)
    await crowd.call("test/go")
    assert (await crowd.reply(number))["result"]["solved"]
    await called(crowd, "double", "one", side_by_side=True)


async def test_a_result_that_waits_for_its_user_holds_nobody_up(crowd):
    crowd.answers["window/showMessageRequest"] = crowd.SILENCE
    await crowd.start(apply="ask", editor={"runs": 1})
    await refine(crowd, "double")
    await refine(crowd, "one")
    asked = lambda m: m.get("method") == "window/showMessageRequest" and "test_one" in m["params"]["message"]  # noqa: E731
    await crowd.wait(asked, "the question about the second")


async def test_without_progress_it_is_said(crowd):
    await crowd.start(without(EVERYTHING, "window.workDoneProgress"), model="play:hold", editor={"runs": 1})
    await refine(crowd, "double")
    await refine(crowd, "one")
    await crowd.told("test_one is queued; 1 refinement is ahead of it.")


async def test_shutdown_while_runs_wait(crowd):
    await crowd.start(model="play:hold", editor={"runs": 1})
    for name in NAMES:
        await refine(crowd, name)
    await waits(crowd, "three", 3)
    assert await crowd.stop() == 0
