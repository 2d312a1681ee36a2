"""Two servers on one project with one history, by the real engine: neither disturbs the other, also when one dies."""

import json

import pytest

from greenloop.engine.history.store import History

from .conftest import FILES, Editor, spawn

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

FIXED = "def double(x):\n    return x * 2\n"
TEST = "test_m.py::test_double"
WRONG, RIGHT, FOREVER = "x * 3", "x * 2", "all(y == 0 for y in iter(int, 1))"
WAIT = 60


def answer(expression):
    return f"```python\ndef double(x):\n    return {expression}\n```"


@pytest.fixture
async def house(tmp_path):
    """Starts editors on one project, each with a server of its own and a model with these answers."""
    root = tmp_path / "project"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    editors = []

    async def start(*expressions, **options):
        script = tmp_path / f"answers{len(editors)}.jsonl"
        script.write_text("".join(json.dumps(answer(each)) + "\n" for each in expressions))
        editor = Editor(await spawn(tmp_path, "-m", "greenloop.lsp"), root)
        editors.append(editor)
        sandbox = {"kind": "bubblewrap", "seconds": WAIT, "longest": WAIT}
        await editor.start(model=f"scripted:{script}", preset="plain", sandbox=sandbox, **options)
        return editor

    yield start
    for editor in editors:
        if editor.process.returncode is None:
            editor.process.kill()
        await editor.process.wait()
        editor.reader.cancel()
        assert editor.junk == b""


@pytest.fixture
def records(tmp_path):
    """All runs of the history, the oldest first."""

    def read():
        history = History.open(tmp_path / "state" / "greenloop" / "history.sqlite3")
        try:
            return list(reversed(history.runs()))
        finally:
            history.close()

    return read


def refine(editor):
    return editor.request("greenloop/refine", {"uri": editor.uri("test_m.py"), "test": TEST})


async def result(editor, number):
    reply = await editor.wait(lambda m: m.get("id") == number and "method" not in m, "the result", seconds=WAIT)
    return reply["result"]


async def offered(editor):
    return [each["title"] for each in await editor.actions() if each["title"].startswith("Apply")]


async def under_test(editor):
    """Waits until attempt 2 is in the sandbox."""

    def holds(message):
        text = message["params"]["value"].get("message") or "" if message.get("method") == "$/progress" else ""
        return text.startswith("attempt 2/") and "testing" in text

    await editor.wait(holds, "attempt 2 in the sandbox", seconds=WAIT)


async def ready(editor):
    """Waits until the server has found what another one left."""
    await editor.wait(
        lambda m: "Restored the earlier run" in (m.get("params") or {}).get("message", ""), "what was", seconds=WAIT
    )


async def test_both_refine_the_same_test_at_once(house, records):
    one, two = await house(WRONG, RIGHT), await house(WRONG, WRONG, RIGHT)
    numbers = refine(one), refine(two)
    assert (await result(one, numbers[0]))["applied"]
    assert (await result(two, numbers[1]))["applied"]
    for editor in (one, two):
        assert editor.text("m.py") == FIXED
        assert not editor.shown()
    kept = records()
    assert sorted(record.count for record in kept) == [2, 3]
    assert all(record.state == "finished" and record.applied for record in kept)
    for editor in (one, two):
        assert await editor.stop() == 0
        assert "history" not in await editor.errors()


async def test_what_one_has_applied_and_not_saved_the_other_does_not_offer(house, records):
    one = await house(RIGHT)
    assert (await result(one, refine(one)))["applied"]
    (record,) = records()
    assert record.applied
    two = await house(WRONG, RIGHT)
    # A whole run of another target shows that the second has looked long ago.
    assert (await result(two, refine(two)))["applied"]
    assert not await offered(two)
    assert len(records()) == 2


async def test_one_dies_with_an_unsaved_result_and_the_next_offers_it(house):
    one = await house(RIGHT)
    assert (await result(one, refine(one)))["applied"]
    one.process.kill()
    await one.ended()
    two = await house(WRONG)
    await ready(two)
    assert len(await offered(two)) == 1
    await two.action("Apply refined double")
    await two.told("Changed m.py:2")
    assert two.text("m.py") == FIXED


async def test_after_a_restart_the_real_engine_verifies_what_was_typed_meanwhile(house):
    one = await house(RIGHT, apply="ask")
    one.answers["window/showMessageRequest"] = {"title": "Keep"}
    assert not (await result(one, refine(one)))["applied"]
    one.process.kill()
    await one.ended()
    (one.root / "m.py").write_text("import os\n\n\n" + FILES["m.py"])
    two = await house(WRONG)
    await ready(two)
    await two.action("Apply refined double")
    await two.wait(lambda m: m.get("method") == "workspace/applyEdit", "the edit", seconds=WAIT)
    await two.told("together with your edits. Changed m.py:5")
    assert two.text("m.py") == "import os\n\n\n" + FIXED


async def test_after_a_restart_the_real_engine_refuses_what_does_not_hold(house):
    one = await house(RIGHT, apply="ask")
    one.answers["window/showMessageRequest"] = {"title": "Keep"}
    assert not (await result(one, refine(one)))["applied"]
    one.process.kill()
    await one.ended()
    (one.root / "m.py").write_text("import nothing_of_the_kind\n\n\n" + FILES["m.py"])
    two = await house(WRONG)
    await ready(two)
    await two.action("Apply refined double")
    await two.wait(lambda m: "does not pass the tests" in (m.get("params") or {}).get("message", ""), seconds=WAIT)
    assert not two.edits


async def test_one_dies_in_the_middle_and_the_other_goes_on(house, records):
    one, two = await house(WRONG, FOREVER), await house(WRONG, RIGHT)
    refine(one)
    await one.diagnosed(lambda items: any("attempt 1/" in item["source"] for item in items))
    await under_test(one)
    assert (await result(two, refine(two)))["applied"]
    one.process.kill()
    await one.ended()
    assert [record.state for record in records()] == ["interrupted", "finished"]
    assert two.text("m.py") == FIXED
    assert await two.stop() == 0


async def test_killed_in_the_middle_the_next_server_shows_the_attempts(house, records):
    one = await house(WRONG, FOREVER)
    refine(one)
    await one.diagnosed(lambda items: any("attempt 1/" in item["source"] for item in items))
    await under_test(one)
    one.process.kill()
    await one.ended()
    assert [record.state for record in records()] == ["interrupted"]
    two = await house(RIGHT)
    await ready(two)
    assert not two.shown()
    hover = (await two.hover())["value"]
    assert "interrupted" in hover
    assert "x * 3" in hover
    assert await offered(two)
    assert (await result(two, refine(two)))["applied"]
    assert two.text("m.py") == FIXED


async def test_the_others_saved_result_is_not_overwritten_by_an_older_buffer(house):
    one, two = await house(RIGHT), await house(RIGHT, apply="ask")
    two.answers["window/showMessageRequest"] = {"title": "Keep"}
    assert not (await result(two, refine(two)))["applied"]
    assert (await result(one, refine(one)))["applied"]
    one.save("m.py")
    await two.action("Apply refined double")
    await two.told("m.py changed on disk; reload it first")
    assert not two.edits


async def test_diagnostics_of_others_are_never_published_again(house):
    """pyright, ruff or pylsp show theirs on the same buffer; the server sees them in requests only."""
    editor = await house(WRONG, RIGHT)
    where = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 10}}
    others = [{"range": where, "message": "mine", "source": source} for source in ("Pyright", "Ruff", "pycodestyle")]
    await editor.actions(diagnostics=others)
    await editor.action("Refine", diagnostics=others)
    await editor.told("Fixed: ")
    await editor.actions(diagnostics=others)
    shown = [each for page in editor.got("textDocument/publishDiagnostics") for each in page["diagnostics"]]
    assert shown
    assert all(each["source"].startswith("greenloop") for each in shown)
