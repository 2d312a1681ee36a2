"""Every way to end a run: command, $/cancelRequest, the progress' button, shutdown, the client's death."""

import asyncio
import os
import signal

import pytest

from .conftest import EVERYTHING, without

CANCELLED = -32800


def target(editor):
    return {"uri": editor.uri("test_m.py"), "position": {"line": 3, "character": 0}}


@pytest.mark.story("cancelling leaves nothing behind")
async def test_by_command_for_the_document(editor):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    assert await editor.execute("greenloop.cancel", {"uri": editor.uri("test_m.py")}) == 1
    await editor.diagnosed(lambda items: not items)
    assert (await editor.state())["cancelled"] == 1
    assert not editor.edits


@pytest.mark.parametrize("arguments", [(), (None,)])
async def test_by_command_for_all(editor, arguments):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    assert await editor.execute("greenloop.cancel", *arguments) == 1


async def test_by_code_action_which_takes_the_place_of_refine(editor):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    titles = [action["title"] for action in await editor.actions()]
    assert titles == ["Cancel refinement: test_double", "Show attempts: test_double"]
    assert [action["title"] for action in await editor.actions("m.py", 0)] == titles
    await editor.action("Cancel refinement")
    await editor.diagnosed(lambda items: not items)


@pytest.mark.story("cancelling leaves nothing behind")
async def test_cancel_request_ends_the_run_and_is_answered(editor):
    await editor.start(model="play:hold")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.notify("$/cancelRequest", {"id": number})
    assert (await editor.reply(number))["error"]["code"] == CANCELLED
    assert (await editor.state())["cancelled"] == 1


async def test_cancelled_elsewhere_the_request_gets_a_result(editor):
    await editor.start(model="play:hold")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    await editor.execute("greenloop.cancel")
    reply = await editor.reply(number)
    assert reply["result"] == {
        "solved": False,
        "verified": "unverified",
        "reason": "cancelled",
        "attempts": 1,
        "applied": False,
        "gain": "",
    }


async def test_who_joins_a_run_does_not_end_it(editor):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    number = editor.request("greenloop/refine", target(editor))
    editor.notify("$/cancelRequest", {"id": number})
    assert (await editor.reply(number))["error"]["code"] == CANCELLED
    await editor.call("test/go")
    await editor.told("Fixed: ")
    assert (await editor.state())["calls"] == ["test_m.py::test_double"]


@pytest.mark.story("cancelling leaves nothing behind")
async def test_by_the_progress_button(editor):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    token = editor.got("$/progress")[0]["token"]
    editor.notify("window/workDoneProgress/cancel", {"token": token})
    ended = await editor.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end")
    assert ended["params"]["value"]["message"] == "cancelled"
    state = await editor.state()
    assert (state["cancelled"], state["tokens"]) == (1, 0)


async def test_shutdown_while_a_run_and_a_request_wait(editor):
    await editor.start(model="play:hold")
    editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    assert await editor.stop() == 0
    assert "RuntimeError" not in await editor.errors()


@pytest.mark.story("a server ends with its editor")
async def test_end_of_input_ends_everything(editor):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    editor.process.stdin.close()
    assert await editor.ended() == 1


async def test_death_of_the_client_ends_everything_though_the_input_stays_open(editor, tmp_path):
    client = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE)
    original = editor.call

    async def call(method, params=None):
        if method == "initialize":
            params["processId"] = client.pid
        return await original(method, params)

    editor.call = call
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    client.kill()
    await client.wait()
    assert await editor.ended() == 1


@pytest.mark.story("a server ends with its editor", only=("[15]",))
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signals_clean_up_first(editor, number):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    os.kill(editor.process.pid, number)
    assert await editor.ended() == 128 + number


async def test_cancel_before_the_progress_token_is_there(editor):
    editor.answers["window/workDoneProgress/create"] = editor.SILENCE
    await editor.start(model="play:hold")
    number = editor.request("greenloop/refine", target(editor))
    create = await editor.wait(lambda m: m.get("method") == "window/workDoneProgress/create")
    assert await editor.execute("greenloop.cancel") == 1
    editor.send({"id": create["id"], "result": None})
    assert (await editor.reply(number))["result"]["reason"] == "cancelled"
    assert (await editor.state())["calls"] == []


async def test_without_progress_the_run_goes_on(editor):
    await editor.start(without(EVERYTHING, "window.workDoneProgress"))
    await editor.action("Refine")
    await editor.told("Refining test_double")
    await editor.told("Fixed: ")
    assert not editor.got("$/progress")
    assert not editor.got("window/workDoneProgress/create")


async def ended_run(editor):
    """Waits until the progress of a run has ended."""
    return await editor.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end")


@pytest.mark.story("cancelling leaves nothing behind")
async def test_closing_the_document_that_it_was_asked_from(editor):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    editor.close("test_m.py")
    assert (await ended_run(editor))["params"]["value"]["message"] == "cancelled"
    assert (await editor.state())["cancelled"] == 1


async def test_closing_another_document_ends_nothing(editor):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    editor.close("m.py")
    editor.close("test_m.py")
    editor.open("test_m.py")
    await editor.call("test/go")
    await editor.told("Fixed: ")


async def test_a_document_that_was_not_open_when_it_was_asked_ends_nothing(editor):
    """Asked for by a list of tests: later somebody has a look at the file, and closes it."""
    await editor.start(model="play:holdend", opened=["m.py"])
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.open("test_m.py")
    editor.close("test_m.py")
    # As below: the run that ends says that the time is over.
    (editor.root / "other.py").write_text("def f():\n    pass\n")
    editor.open("other.py")
    second = editor.request(
        "greenloop/refine", {"uri": editor.uri("other.py"), "position": {"line": 0, "character": 4}}
    )
    editor.close("other.py")
    assert (await editor.reply(second))["result"]["reason"] == "cancelled"
    await editor.call("test/go")
    result = (await editor.reply(number))["result"]
    assert result["applied"], (result, editor.got("window/showMessage"))


async def test_reloading_the_document_ends_nothing(editor):
    """As `:edit` does: closed and opened in one breath."""
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.close("test_m.py")
    editor.open("test_m.py")
    # A run from a document that stays closed shows that the time for opening it again is over.
    editor.open("other.py", "def f():\n    pass\n")
    other = {"uri": editor.uri("other.py"), "position": {"line": 0, "character": 4}}
    (editor.root / "other.py").write_text("def f():\n    pass\n")
    second = editor.request("greenloop/refine", other)
    editor.close("other.py")
    assert (await editor.reply(second))["result"]["reason"] == "cancelled"
    await editor.call("test/go")
    result = (await editor.reply(number))["result"]
    assert result["applied"], (result, editor.got("window/showMessage"))


@pytest.mark.parametrize("end", ["shutdown", "exit", "input", "signal"])
async def test_what_does_not_end_holds_no_end_up(impatient, end):
    """An engine of containers that hangs, say."""
    editor = impatient
    await editor.start(model="play:stubborn")
    await editor.action("Refine")
    await editor.diagnosed(lambda items: any("attempt 0/" in item["source"] for item in items))
    if end == "shutdown":
        assert await editor.stop() == 0
        return
    if end == "exit":
        editor.notify("exit")
    elif end == "input":
        editor.process.stdin.close()
    else:
        os.kill(editor.process.pid, signal.SIGTERM)
    assert await editor.ended() == (128 + signal.SIGTERM if end == "signal" else 1)


async def test_while_it_ends_nothing_is_begun(impatient):
    editor = impatient
    await editor.start(model="play:stubborn")
    await editor.action("Refine")
    await editor.diagnosed(lambda items: any("attempt 0/" in item["source"] for item in items))
    number = editor.request("shutdown")
    reply = await editor.reply(editor.request("greenloop/refine", target(editor)))
    assert reply["error"]["code"] == -32600
    assert "error" not in await editor.reply(number)
    editor.notify("exit")
    assert await editor.ended() == 0


async def test_what_cannot_be_shown_leaves_nobody_waiting(unshowable):
    editor = unshowable
    await editor.start()
    assert (await editor.call("greenloop/refine", target(editor)))["applied"]
    assert (await ended_run(editor))["params"]["value"]["message"] == "applied"
    assert await editor.stop() == 0
    assert "The end of a run could not be shown" in await editor.errors()


async def test_exit_without_shutdown(editor):
    await editor.start(model="play:hold")
    await editor.action("Refine")
    await editor.under_way()
    editor.notify("exit")
    assert await editor.ended() == 1
    assert "Traceback" not in await editor.errors()


async def test_a_client_that_never_answers_can_still_cancel(editor):
    for method in ("window/workDoneProgress/create", "workspace/configuration", "workspace/applyEdit"):
        editor.answers[method] = editor.SILENCE
    await editor.start(model="play:hold")
    number = editor.request("greenloop/refine", target(editor))
    await editor.wait(lambda m: m.get("method") == "window/workDoneProgress/create")
    assert await editor.execute("greenloop.cancel") == 1
    assert (await editor.reply(number))["result"]["reason"] == "cancelled"


async def test_an_editor_that_accepts_progress_late_holds_no_run_up_and_gets_it_then(editor):
    editor.answers["window/workDoneProgress/create"] = editor.SILENCE
    await editor.start(model="play:hold")
    number = editor.request("greenloop/refine", target(editor))
    asked = await editor.wait(lambda m: m.get("method") == "window/workDoneProgress/create")
    await editor.under_way()
    assert editor.got("$/progress") == []
    editor.send({"id": asked["id"], "result": None})
    await editor.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "begin")
    editor.notify("window/workDoneProgress/cancel", {"token": asked["params"]["token"]})
    assert (await editor.reply(number))["result"]["reason"] == "cancelled"


async def test_cancelled_while_the_user_is_asked_the_result_is_kept(editor):
    editor.answers["window/showMessageRequest"] = editor.SILENCE
    await editor.start(apply="ask")
    number = editor.request("greenloop/refine", target(editor))
    await editor.wait(lambda m: m.get("method") == "window/showMessageRequest")
    assert await editor.execute("greenloop.cancel") == 1
    result = (await editor.reply(number))["result"]
    assert (result["solved"], result["applied"]) == (True, False)
    assert (await ended_run(editor))["params"]["value"]["message"] == "cancelled, the result is kept"
    await editor.action("Apply refined double")
    await editor.told("Changed m.py:2")


async def test_cancelled_while_a_merge_is_verified_the_result_is_kept(editor):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("m.py", "HOLD = 1\n" + editor.text("m.py"))
    await editor.call("test/go")
    await editor.wait(lambda m: m.get("method") == "$/progress" and "merged with your edits" in str(m))
    assert await editor.execute("greenloop.cancel") == 1
    assert not (await editor.reply(number))["result"]["applied"]
    assert not editor.edits
    assert [each for each in await editor.actions() if each["title"].startswith("Apply refined double")]
