"""Tests that run from the editor, in every kind of editor, beside refinements: by the engine's stand-in."""

import pytest

from .conftest import EVERYTHING, without

GREEN = "def double(x):\n    return x * 2\n"
SAVE = {"editor": {"save": "affected"}}
PUBLISHED = "textDocument/publishDiagnostics"


def save(editor, name, text):
    editor.change(name, text)
    (editor.root / name).write_text(text)
    editor.notify("textDocument/didSave", {"textDocument": {"uri": editor.uri(name)}})


def run_test(editor, **more):
    return editor.execute("greenloop.runTest", {"uri": editor.uri("test_m.py"), **more})


def red(items):
    return [item["source"] for item in items] == ["greenloop"]


@pytest.mark.parametrize("lost", ["window", "workspace", "textDocument"])
async def test_an_editor_that_lacks_nearly_everything_gets_its_diagnostics(editor, lost):
    await editor.start(without(EVERYTHING, lost), **SAVE)
    await run_test(editor)
    [item] = await editor.diagnosed(red)
    assert item["message"].startswith("test_double: AssertionError: assert 6 == 10")
    assert ("relatedInformation" in item) == (lost != "textDocument")
    await editor.told("1 failed in 0.1 s")


async def test_the_next_check_shows_it_where_it_stands_by_then(editor):
    """What is typed while the tests run has moved their lines when they end."""
    await editor.start()
    text = editor.text("test_m.py")
    editor.change("m.py", "# WAIT\n")
    await run_test(editor)
    await editor.wait(lambda m: m.get("method") == "$/progress", "progress")
    editor.change("test_m.py", "import os\n\n\n" + text)
    editor.notify("test/go")
    [item] = await editor.diagnosed(red)
    assert item["range"]["start"]["line"] == 7
    titles = [each["title"] for each in await editor.actions(line=7, diagnostics=[item])]
    assert any(title.startswith("Refine until tests pass") for title in titles)
    # Closed without saving, it stands where the file on disk has it.
    editor.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri("test_m.py")}})
    await editor.diagnosed(lambda items: red(items) and items[0]["range"]["start"]["line"] == 4)


async def test_while_a_refinement_shows_the_test_nothing_is_shown_twice(editor):
    await editor.start(model="play:hold")
    await run_test(editor)
    await editor.diagnosed(red)
    await editor.action("Refine")
    await editor.under_way()
    await run_test(editor)
    await editor.wait(lambda m: len([p for p in editor.got("window/showMessage") if "1 failed" in p["message"]]) == 2)
    for published in editor.got(PUBLISHED):
        assert sum(item["message"].startswith("test_double: ") for item in published["diagnostics"]) <= 1
    await editor.execute("greenloop.cancel", {"uri": editor.uri("test_m.py")})
    # The refinement is gone, the test is still red.
    await editor.wait(lambda m: m.get("method") == PUBLISHED and red(editor.shown()))


async def test_what_a_refinement_put_right_is_shown_no_more(editor):
    await editor.start(model="play:solve")
    await run_test(editor)
    await editor.diagnosed(red)
    await editor.action("Refine")
    await editor.told("Fixed: ")
    await editor.wait(lambda m: m.get("method") == PUBLISHED and not editor.shown())


@pytest.mark.story("what a result also fixed is red no more")
async def test_what_a_refinement_also_put_right_is_shown_no_more(editor):
    """Neither the failing test of a test run, nor the run that had ended unsolved for it."""
    await editor.start(model="play:stuck")
    await run_test(editor)
    await editor.diagnosed(red)
    await editor.action("Refine")
    await editor.diagnosed(lambda items: any(item["code"] == "unsolved" for item in items))
    editor.notify("workspace/didChangeConfiguration", {"settings": {"greenloop": {"model": "play:alsofixed"}}})
    await editor.action("Refine", name="m.py", line=1)
    await editor.told("also fixes test_double")
    await editor.wait(lambda m: m.get("method") == PUBLISHED and not editor.shown())


@pytest.mark.story("a save runs the tests that came through the file")
async def test_saves_run_the_tests_of_the_buffers_and_say_nothing(editor):
    await editor.start(**SAVE)
    save(editor, "m.py", "def double(x):\n    return x + 2\n")
    await editor.diagnosed(red)
    save(editor, "m.py", GREEN)
    await editor.wait(lambda m: m.get("method") == PUBLISHED and not editor.shown())
    assert editor.got("window/showMessage") == []
    state = await editor.state()
    assert state["calls"] == ["tests test_m.py", "tests test_m.py::test_double"]


async def test_the_progress_button_cancels(editor):
    await editor.start()
    editor.change("m.py", "# WAIT\n")
    await run_test(editor)
    begun = await editor.wait(
        lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "begin", "progress"
    )
    assert begun["params"]["value"]["cancellable"]
    editor.notify("window/workDoneProgress/cancel", {"token": begun["params"]["token"]})
    await editor.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end", "its end")
    state = await editor.state()
    assert (state["cancelled"], state["tokens"]) == (1, 0)


async def test_a_document_that_is_opened_again_at_once_was_not_left(editor):
    """As editors reload a file."""
    await editor.start()
    editor.change("m.py", "# WAIT\n")
    await run_test(editor)
    await editor.wait(lambda m: m.get("method") == "$/progress", "progress")
    editor.close("test_m.py")
    editor.open("test_m.py")
    editor.notify("test/go")
    await editor.told("1 failed in 0.1 s")


async def test_shutdown_ends_what_is_under_way(editor):
    await editor.start(**SAVE)
    save(editor, "m.py", "# WAIT\n")
    await editor.wait(lambda m: m.get("method") == "$/progress", "progress, since it takes long")
    assert await editor.stop() == 0
    assert "Traceback" not in await editor.errors()


async def test_what_ran_again_after_a_refinement_ended_unsolved_is_shown_as_it_ended_then(editor):
    """Until one steps to an attempt; the summary stays, and all of it goes when the tests pass."""
    await editor.start(model="play:stuck")
    await editor.call("greenloop/refine", {"uri": editor.uri("test_m.py"), "position": {"line": 4, "character": 0}})
    await editor.diagnosed(lambda items: any("assert 15 == 10" in item["message"] for item in items))
    await run_test(editor)
    await editor.told("1 failed in 0.1 s")
    shown = sorted((item["code"], item["source"]) for item in editor.shown())
    assert shown == [("AssertionError", "greenloop"), ("unsolved", "greenloop")]
    assert any("assert 6 == 10" in item["message"] for item in editor.shown())
    argument = {"uri": editor.uri("test_m.py"), "target": "test_m.py::test_double", "attempt": 1}
    await editor.execute("greenloop.showAttempt", argument)
    assert sorted(item["source"] for item in editor.shown()) == ["greenloop", "greenloop attempt 1/5"]
    editor.change("m.py", GREEN)
    await run_test(editor)
    await editor.told("1 passed")
    assert editor.shown() == []


async def test_a_test_that_is_found_green_fails_no_more(editor):
    """Another refinement may have mended it, as when all tests of a file are refined."""
    await editor.start(model="play:green")
    await run_test(editor)
    await editor.diagnosed(red)
    await editor.action("Refine")
    await editor.told("already passes")
    assert [item["code"] for item in editor.shown()] == ["already-green"]
