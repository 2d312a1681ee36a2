"""Nothing is shown where there is nothing: files that are renamed, closed unsaved, or changed behind the editor."""

import asyncio

import pytest

from .conftest import FILES


def target(editor):
    return {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double"}


async def unsolved(editor, **options):
    await editor.start(model="play:stuck", **options)


def close(editor, name):
    del editor.buffers[editor.uri(name)]
    editor.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri(name)}})


def summary_rows(items):
    return [item["range"]["start"]["line"] for item in items if item["source"] == "greenloop"]


@pytest.mark.story("diagnostics stand at their lines")
async def test_a_renamed_file_shows_nothing_under_its_old_name(editor):
    await unsolved(editor)
    await editor.call("greenloop/refine", target(editor))
    assert editor.shown("test_m.py")
    close(editor, "test_m.py")
    (editor.root / "test_m.py").rename(editor.root / "test_n.py")
    editor.open("test_n.py")
    await editor.call("test/state")
    assert editor.shown("test_m.py") == []


async def test_what_is_said_of_a_deleted_file_is_not_shown(editor):
    await unsolved(editor)
    run = editor.request("greenloop/refine", target(editor))
    close(editor, "test_m.py")
    (editor.root / "test_m.py").unlink()
    (editor.root / "test_m.py").with_name("other.py").write_text("")
    editor.open("other.py")
    await editor.reply(run)
    assert editor.shown("test_m.py") == []


@pytest.mark.story("diagnostics stand at their lines")
async def test_lines_move_back_when_a_text_is_closed_unsaved(editor):
    await unsolved(editor)
    editor.change("test_m.py", "# typed\n" * 9 + FILES["test_m.py"])
    await editor.call("greenloop/refine", target(editor))
    assert summary_rows(editor.shown("test_m.py")) == [12]
    close(editor, "test_m.py")
    editor.open("test_m.py")
    await editor.call("test/state")
    assert summary_rows(editor.shown("test_m.py")) == [3]


async def test_lines_move_when_a_text_is_opened_that_is_not_the_disks(editor):
    await unsolved(editor, opened=("m.py",))
    await editor.call("greenloop/refine", target(editor))
    assert summary_rows(editor.shown("test_m.py")) == [3]
    editor.open("test_m.py", "# restored\n" + FILES["test_m.py"])
    await editor.call("test/state")
    assert summary_rows(editor.shown("test_m.py")) == [4]


async def test_nothing_points_beyond_a_file_that_became_shorter_behind_the_editor(editor):
    await unsolved(editor, opened=("m.py",))
    await editor.call("greenloop/refine", target(editor))
    (editor.root / "test_m.py").write_text("# all gone\n")
    editor.open("test_m.py")
    await editor.call("test/state")
    assert summary_rows(editor.shown("test_m.py")) == []


async def failing(editor):
    """A test that was run and failed."""
    await editor.start(opened=("m.py", "test_m.py"))
    await editor.execute("greenloop.runTest", {"uri": editor.uri("test_m.py")})
    await editor.told("1 failed")
    assert editor.shown("test_m.py")


async def test_failing_tests_are_discarded_with_all_the_rest(editor):
    await failing(editor)
    await editor.execute("greenloop.discard", {"uri": editor.uri("m.py")})
    assert editor.shown("test_m.py")
    await editor.execute("greenloop.discard")
    assert editor.shown("test_m.py") == []


async def test_failing_tests_of_a_file_are_discarded(editor):
    await failing(editor)
    await editor.execute("greenloop.discard", {"uri": editor.uri("test_m.py"), "target": "test_m.py::test_double"})
    assert editor.shown("test_m.py")
    await editor.execute("greenloop.discard", {"uri": editor.uri("test_m.py")})
    assert editor.shown("test_m.py") == []


async def test_a_failing_test_whose_lines_are_gone_stays_in_its_file(editor):
    await editor.start(model="play:hold", opened=("m.py", "test_m.py"))
    editor.change("m.py", FILES["m.py"] + "# WAIT\n")
    await editor.execute("greenloop.runTest", {"uri": editor.uri("test_m.py")})
    await editor.wait(lambda m: m.get("method") == "window/workDoneProgress/create", "a check under way")
    async with asyncio.timeout(20):
        while not any(call.startswith("tests") for call in (await editor.state())["calls"]):
            await asyncio.sleep(0.01)
    editor.change("test_m.py", "# 1\n# 2\n")
    await editor.call("test/go")
    items = await editor.diagnosed(bool)
    assert [item["range"]["start"]["line"] for item in items] == [0]


async def test_what_is_discarded_while_it_lands_shows_nothing(editor):
    await unsolved(editor)
    await editor.call("greenloop/refine", target(editor))
    editor.answers["workspace/applyEdit"] = editor.SILENCE
    await editor.execute("greenloop.apply")
    asked = await editor.wait(lambda m: m.get("method") == "workspace/applyEdit", "an edit")
    await editor.execute("greenloop.discard")
    assert editor.shown("test_m.py") == []
    editor.send({"id": asked["id"], "result": editor.apply(asked["params"])})
    await editor.told("Best attempt applied")
    await editor.call("test/state")
    assert editor.shown("test_m.py") == []
