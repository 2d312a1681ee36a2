"""The edit: versions, stale texts, merges, closed and new files, line ends, and never twice."""

import re

import pytest

from .conftest import EVERYTHING, FILES, without

FIXED = "def double(x):\n    return x * 2\n"
TARGET = {"line": 3, "character": 0}


def target(editor):
    return {"uri": editor.uri("test_m.py"), "position": TARGET}


def refine(editor):
    return editor.call("greenloop/refine", target(editor))


@pytest.mark.story("a result is one edit of the text that the editor has")
async def test_versioned_where_declared_and_minimal(editor):
    await editor.start()
    assert (await refine(editor))["applied"]
    change = editor.edits[0]["edit"]["documentChanges"][0]
    assert change["textDocument"] == {"uri": editor.uri("m.py"), "version": 0}
    assert change["edits"] == [
        {
            "range": {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}},
            "newText": "    return x * 2\n",
        }
    ]


async def test_plain_changes_where_not(editor):
    await editor.start(without(EVERYTHING, "workspace.workspaceEdit"))
    assert (await refine(editor))["applied"]
    assert list(editor.edits[0]["edit"]) == ["changes"]
    assert editor.text("m.py") == FIXED


@pytest.mark.story("text typed meanwhile is merged and verified again")
async def test_text_typed_meanwhile_is_kept_and_verified_again(editor):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    typed = "import os\n\n\n" + FILES["m.py"]
    editor.change("m.py", typed)
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]
    assert editor.text("m.py") == typed.replace("x + 1", "x * 2")
    assert (await editor.state())["reverified"] == [{"m.py": editor.text("m.py"), "test_m.py": FILES["test_m.py"]}]
    assert editor.edits[0]["edit"]["documentChanges"][0]["textDocument"]["version"] == 1


@pytest.mark.story("text typed meanwhile is merged and verified again")
async def test_a_merge_that_fails_its_tests_is_kept_and_not_applied(editor):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("m.py", "BREAK = 1\n" + FILES["m.py"])
    await editor.call("test/go")
    assert not (await editor.reply(number))["result"]["applied"]
    await editor.told("the result fails with that change")
    assert not editor.edits


async def test_of_two_equal_lines_one_goes_while_something_is_typed_elsewhere(editor, project):
    """That the text has one of them proves nothing."""
    twice = "def double(x):\n    x += x\n    x += x\n    return x\n"
    (project / "m.py").write_text(twice)
    await editor.start(model="play:fewer")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("m.py", "import os\n\n\n" + twice)
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]
    assert editor.text("m.py") == "import os\n\n\ndef double(x):\n    x += x\n    return x\n"


@pytest.mark.story("text typed in the same lines stays")
async def test_the_same_line_changed_meanwhile_is_a_conflict(editor):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("m.py", FILES["m.py"].replace("x + 1", "x + 2"))
    await editor.call("test/go")
    assert not (await editor.reply(number))["result"]["applied"]
    await editor.told("m.py changed at the same place during the run")
    # Taken back by the user, the kept result fits again.
    editor.change("m.py", FILES["m.py"])
    await editor.action("Apply refined double")
    await editor.told("Fixed: ")
    assert editor.text("m.py") == FIXED


@pytest.mark.story("a result counts as applied when the text has it")
async def test_applied_true_without_a_change_is_not_believed(editor):
    """Neovim answers true and changes nothing when the version is stale."""
    editor.answers["workspace/applyEdit"] = {"applied": True}
    await editor.start()
    assert not (await refine(editor))["applied"]
    await editor.told("the editor did not apply it")
    editor.answers["workspace/applyEdit"] = editor.apply
    await editor.action("Apply refined double")
    await editor.told("Fixed: ")
    assert (editor.text("m.py"), len(editor.edits)) == (FIXED, 1)


async def test_a_change_reported_after_the_reply_counts(editor):
    def late(params):
        editor.edits.append(params)
        editor.notify("test/state")  # something else in between
        return {"applied": True}

    editor.answers["workspace/applyEdit"] = late
    await editor.start()
    number = editor.request("greenloop/refine", target(editor))
    await editor.wait(lambda m: m.get("method") == "workspace/applyEdit")
    editor.change("m.py", FIXED)
    assert (await editor.reply(number))["result"]["applied"]


async def test_a_change_reported_much_later_counts_too(editor):
    """eglot reports changes when Emacs is idle, which it is not while somebody types."""
    editor.answers["workspace/applyEdit"] = {"applied": True}
    await editor.start()
    assert not (await refine(editor))["applied"]
    await editor.told("the editor did not apply it")
    editor.change("m.py", FIXED + "typed = 1\n")
    await editor.told("Changed m.py:2")
    assert not [a for a in await editor.actions() if a["title"].startswith("Apply")]


@pytest.mark.story("a result that was not applied is offered")
async def test_refused_by_the_editor_it_is_kept(editor):
    editor.answers["workspace/applyEdit"] = Exception("no edits")
    await editor.start()
    assert not (await refine(editor))["applied"]
    titles = [action["title"] for action in await editor.actions()]
    assert [title.split(" (")[0] for title in titles] == [
        "Apply refined double",
        "Show attempts: test_double",
        "Refine until tests pass: test_double",
        "Run in the sandbox: test_double",
        "Discard attempts: test_double",
    ]


async def test_refused_and_then_taken_it_is_told_once(editor):
    editor.answers["workspace/applyEdit"] = {"applied": False}
    await editor.start()
    assert not (await refine(editor))["applied"]
    editor.answers["workspace/applyEdit"] = editor.apply
    await editor.action("Apply refined double")
    await editor.told("Changed m.py:2")
    await editor.call("test/settled")
    said = [*editor.got("window/showMessage"), *editor.got("window/showMessageRequest")]
    assert sum("Changed m.py:2" in each["message"] for each in said) == 1


async def test_two_clicks_apply_once(editor):
    await editor.start(model="play:partial")
    assert not (await refine(editor))["applied"]
    apply = next(a for a in await editor.actions() if a["title"].startswith("Apply"))["command"]
    params = {"command": apply["command"], "arguments": apply["arguments"]}
    first, second = (editor.request("workspace/executeCommand", params) for _ in range(2))
    await editor.reply(first)
    await editor.reply(second)
    await editor.told("Fixed, not fully verified: ")
    assert (await editor.hover())["value"]
    assert (editor.text("m.py"), len(editor.edits)) == (FIXED, 1)


@pytest.mark.story("one undo takes a result back")
async def test_after_undo_it_can_be_applied_again(editor):
    await editor.start()
    assert (await refine(editor))["applied"]
    assert not [a for a in await editor.actions() if a["title"].startswith("Apply")]
    editor.change("m.py", FILES["m.py"])
    assert [a for a in await editor.actions() if a["title"].startswith("Apply")]
    editor.change("m.py", FIXED)
    assert not [a for a in await editor.actions() if a["title"].startswith("Apply")]


async def test_closed_unsaved_it_can_be_applied_again(editor, project):
    """Reloading from the disk (`:e!`) is closing and opening."""
    (project / "m.py").write_bytes(FILES["m.py"].replace("\n", "\r\n").encode())
    await editor.start(opened=("test_m.py",))
    editor.open("m.py", FILES["m.py"])
    assert (await refine(editor))["applied"]
    editor.close("m.py")
    assert [a for a in await editor.actions() if a["title"].startswith("Apply")]
    editor.open("m.py", FILES["m.py"])
    await editor.action("Apply refined double")
    await editor.told("Changed m.py:2")
    await editor.call("test/settled")
    assert editor.text("m.py") == FIXED
    editor.save("m.py")
    editor.close("m.py")
    assert not [a for a in await editor.actions() if a["title"].startswith("Apply")]


async def test_a_merge_is_verified_with_what_was_saved_and_closed_meanwhile(editor, project):
    (project / "helper.py").write_text("OLD = 1\n")
    await editor.start(model="play:holdend", opened=("m.py", "test_m.py", "helper.py"))
    editor.change("helper.py", "UNSAVED = 1\n")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("helper.py", "SAVED = 1\n")
    editor.save("helper.py")
    editor.close("helper.py")
    editor.change("m.py", "import os\n" + FILES["m.py"])
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]
    (asked,) = (await editor.state())["reverified"]
    assert asked["helper.py"] == "SAVED = 1\n"


async def test_an_action_in_a_file_that_the_editor_opens_for_it(editor):
    """Of an edit that an action carries nothing is told but the text, also where that is the first of the file."""
    await editor.start(without(EVERYTHING, "workspace.applyEdit"), opened=("test_m.py",))
    assert not (await refine(editor))["applied"]
    (carried,) = [a for a in await editor.actions() if a["title"].startswith("Apply")]
    editor.apply({"edit": {"changes": {editor.uri("m.py"): carried["edit"]["documentChanges"][0]["edits"]}}})
    await editor.told("Changed m.py:2")


async def test_applied_where_nothing_waits(editor):
    await editor.start()
    await editor.execute("greenloop.apply", {"uri": editor.uri("m.py")})
    await editor.told("There is no unapplied result here.")


@pytest.mark.story("only the editor writes")
async def test_a_closed_file_is_changed_by_the_editor_and_not_on_the_disk(editor, project):
    editor.answers["window/showMessageRequest"] = {"title": "Open"}
    editor.answers["window/showDocument"] = {"success": True}
    await editor.start(opened=("test_m.py",))
    assert (await refine(editor))["applied"]
    assert editor.text("m.py") == FIXED
    assert (project / "m.py").read_text() == FILES["m.py"]
    shown = await editor.wait(lambda m: m.get("method") == "window/showDocument")
    assert shown["params"]["uri"] == editor.uri("m.py")
    assert shown["params"]["selection"]["start"]["line"] == 1


async def test_where_a_question_takes_the_keys_the_changed_file_is_opened_by_an_action(editor):
    """No capability says so; Neovim is known by its name."""
    editor.answers["window/showDocument"] = {"success": True}
    await editor.start(opened=("test_m.py",), client="Neovim")
    assert (await refine(editor))["applied"]
    told = await editor.told("Fixed: test_double passes.")
    assert told["params"]["message"].endswith("Changed m.py:2. To see it, choose 'Open the changed double'.")
    assert not editor.got("window/showMessageRequest")
    offered = [each["title"] for each in await editor.actions()]
    assert offered[:2] == ["Open the changed double", "Refine until tests pass: test_double"]
    assert "Open the changed double" not in [each["title"] for each in await editor.actions("m.py", 1)]
    await editor.action("Open the changed double")
    shown = await editor.wait(lambda m: m.get("method") == "window/showDocument")
    assert (shown["params"]["uri"], shown["params"]["selection"]["start"]["line"]) == (editor.uri("m.py"), 1)


async def test_a_result_that_is_not_applied_cannot_be_opened(editor):
    await editor.start()
    await editor.execute("greenloop.open", {"uri": editor.uri("m.py")})
    await editor.told("There is no applied result here.")


async def test_a_closed_file_that_the_editor_does_not_open_is_believed(editor):
    editor.answers["workspace/applyEdit"] = {"applied": True}
    await editor.start(opened=("test_m.py",))
    assert (await refine(editor))["applied"]


@pytest.mark.story("a result can need a new file")
async def test_a_new_file_is_created_where_declared(editor, project):
    await editor.start(model="play:create")
    assert (await refine(editor))["applied"]
    create, write = editor.edits[0]["edit"]["documentChanges"]
    assert (create["kind"], create["uri"]) == ("create", editor.uri("fresh.py"))
    assert write["edits"][0]["newText"] == "def fresh():\n    return 1\n"
    assert not (project / "fresh.py").exists()


@pytest.mark.story("one undo takes a result back")
async def test_code_and_tests_land_in_one_edit_with_one_undo(editor, project):
    """A changed test file and a new one go with the code: one request, so that one undo takes all of it back."""
    await editor.start(model="play:tests")
    before = {uri: text for uri, (_version, text) in editor.buffers.items()}
    assert (await refine(editor))["applied"]
    (only,) = editor.edits
    changed = [change.get("kind") or change["textDocument"]["uri"] for change in only["edit"]["documentChanges"]]
    new = editor.uri("tests/test_new.py")
    assert changed == [editor.uri("m.py"), editor.uri("test_m.py"), "create", new]
    assert editor.text("m.py") == FIXED
    assert editor.text("test_m.py").startswith(FILES["test_m.py"])
    assert "def test_double_of_0" in editor.text("test_m.py")
    assert "def test_double_of_1" in editor.buffers[new][1]
    await editor.told("Fixed: ")
    # The undo of that one edit: the texts as they were, the new file gone.
    del editor.buffers[new]
    for name in ("m.py", "test_m.py"):
        editor.change(name, before[editor.uri(name)])
    assert {uri: text for uri, (_version, text) in editor.buffers.items()} == before
    assert not (project / "tests").exists()


async def test_tests_typed_meanwhile_into_the_same_file_are_kept(editor):
    await editor.start(model="play:tests")
    typed = "X = 1\n" + FILES["test_m.py"]
    editor.answers["workspace/applyEdit"] = Exception("busy")
    assert not (await refine(editor))["applied"]
    editor.change("test_m.py", typed)
    editor.answers["workspace/applyEdit"] = editor.apply
    await editor.action("Apply refined double", line=4)
    await editor.told("together with your edits")
    assert editor.text("test_m.py").startswith(typed)
    assert "def test_double_of_0" in editor.text("test_m.py")


async def test_a_new_file_is_offered_where_not(editor):
    await editor.start(without(EVERYTHING, "workspace.workspaceEdit.resourceOperations"), model="play:create")
    assert not (await refine(editor))["applied"]
    await editor.told("cannot create fresh.py")


@pytest.mark.story("a result is one edit of the text that the editor has")
async def test_no_edits_declared_the_action_carries_it(editor):
    """Kate, JupyterLab and ALE declare no workspace/applyEdit."""
    await editor.start(without(EVERYTHING, "workspace.applyEdit"))
    assert not (await refine(editor))["applied"]
    action = next(a for a in await editor.actions() if a["title"].startswith("Apply"))
    assert "command" not in action
    said = (await editor.told("to apply it"))["params"]["message"].partition("'")[2].partition("'")[0]
    assert action["title"].startswith(said)
    editor.apply({"edit": action["edit"]})
    assert editor.text("m.py") == FIXED
    assert not [a for a in await editor.actions() if a["title"].startswith("Apply")]


async def test_without_edits_declared_what_is_typed_is_verified_before_the_action_carries_it(editor):
    """During the run by itself; after it when the user asks."""
    await editor.start(without(EVERYTHING, "workspace.applyEdit"), model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    typed = "import os\n\n\n" + FILES["m.py"]
    editor.change("m.py", typed)
    await editor.call("test/go")
    assert not (await editor.reply(number))["result"]["applied"]
    await editor.told("also together with your edits")
    wanted = typed.replace("x + 1", "x * 2")
    first = {"m.py": wanted, "test_m.py": FILES["test_m.py"]}
    assert (await editor.state())["reverified"] == [first]
    (carried,) = [a for a in await editor.actions() if a["title"].startswith("Apply")]

    editor.change("test_m.py", "import sys\n" + FILES["test_m.py"])
    offered = [a["title"] for a in await editor.actions(line=4)]
    assert not [title for title in offered if title.startswith("Apply")]
    await editor.action("Verify again with your edits: double", line=4)
    await editor.call("test/settled")
    assert (await editor.state())["reverified"] == [first, first | {"test_m.py": editor.text("test_m.py")}]
    (again,) = [a for a in await editor.actions(line=4) if a["title"].startswith("Apply")]
    assert again["edit"] == carried["edit"]
    editor.apply({"edit": again["edit"]})
    assert editor.text("m.py") == wanted


async def test_without_edits_declared_a_merge_that_fails_is_not_offered(editor):
    await editor.start(without(EVERYTHING, "workspace.applyEdit"), model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("m.py", "BREAK = 1\n" + FILES["m.py"])
    await editor.call("test/go")
    await editor.reply(number)
    await editor.told("the result fails with that change")
    assert not [a for a in await editor.actions() if a["title"].startswith("Apply")]


@pytest.mark.story("everything else of the text stays")
@pytest.mark.parametrize("shown", ["\n", "\r\n"])
async def test_line_ends_of_the_editor_are_kept(editor, project, shown):
    """Some editors show a file's CRLF as LF; the edit speaks as the editor does."""
    (project / "m.py").write_bytes(FILES["m.py"].replace("\n", "\r\n").encode())
    await editor.start(opened=())
    editor.open("m.py", FILES["m.py"].replace("\n", shown))
    editor.open("test_m.py")
    assert (await refine(editor))["applied"]
    assert editor.text("m.py") == FIXED.replace("\n", shown)
    assert (await editor.state())["buffers"] == {}


@pytest.mark.story("unsaved text is what runs")
async def test_unsaved_text_is_what_runs(editor):
    await editor.start()
    editor.change("m.py", FILES["m.py"].replace("x + 1", "x + 1  # typed"))
    assert (await refine(editor))["applied"]
    assert list((await editor.state())["buffers"]) == ["m.py"]
    assert editor.text("m.py") == FIXED


async def test_encodings_are_those_of_the_file(editor, project):
    text = "# -*- coding: latin-1 -*-\n# grün\n" + FILES["m.py"]
    (project / "m.py").write_bytes(text.encode("latin-1"))
    (project / "bom.py").write_bytes(b"\xef\xbb\xbfx = 1\n")
    await editor.start(opened=("test_m.py",))
    editor.open("m.py", text)
    editor.open("bom.py", "x = 1\n")
    await refine(editor)
    assert (await editor.state())["buffers"] == {}
    editor.change("m.py", text.replace("grün", "über"))
    editor.change("bom.py", "x = 2\n")
    await refine(editor)
    state = await editor.state()
    assert state["buffers"] == {"m.py": text.replace("grün", "über"), "bom.py": "\xef\xbb\xbfx = 2\n"}


@pytest.mark.story("a result with new imports is offered")
async def test_new_imports_are_offered_and_not_applied_by_themselves(editor):
    await editor.start(model="play:imports")
    assert not (await refine(editor))["applied"]
    await editor.told("It newly imports os in m.py. Not applied automatically.")


@pytest.mark.story("the setting apply decides")
async def test_apply_ask(editor):
    editor.answers["window/showMessageRequest"] = {"title": "Keep"}
    await editor.start(apply="ask")
    assert not (await refine(editor))["applied"]
    editor.answers["window/showMessageRequest"] = {"title": "Apply"}
    assert (await refine(editor))["applied"]


async def test_unsolved_changes_nothing_and_offers_the_best(editor):
    await editor.start(model="play:stuck")
    assert await refine(editor) == {
        "solved": False,
        "verified": "unverified",
        "reason": "attempts",
        "attempts": 1,
        "applied": False,
        "gain": "",
    }
    assert not editor.edits
    await editor.action("Apply refined double (not verified")
    await editor.told("Best attempt applied")
    assert "x * 3" in editor.text("m.py")


async def test_already_green(editor):
    await editor.start(model="play:green")
    assert (await refine(editor))["reason"] == "already-green"
    await editor.told("test_double already passes")


async def test_by_test_id_and_preset(editor):
    await editor.start()
    params = {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double", "preset": "plain"}
    assert (await editor.call("greenloop/refine", params))["solved"]
    assert (await editor.state())["calls"] == ["test_m.py::test_double"]


# -- the disk behind the editor ---------------------------------------------------------------------------------


@pytest.mark.story("a stale document is refused")
async def test_a_buffer_older_than_its_file_is_left_alone(editor, project):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    (project / "m.py").write_text("# somebody else\n\n" + FILES["m.py"])
    await editor.call("test/go")
    assert not (await editor.reply(number))["result"]["applied"]
    await editor.told("m.py changed on disk; reload it first")
    assert not editor.edits
    # Reloaded, and so with the other's text: that is a merge, which is verified again.
    editor.change("m.py", "# somebody else\n\n" + FILES["m.py"])
    await editor.action("Apply refined double")
    await editor.told("together with your edits. 3 related tests unchanged. Changed m.py:4")
    assert editor.text("m.py") == "# somebody else\n\n" + FIXED


async def test_what_the_editor_itself_saved_is_not_behind_it(editor, project):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("m.py", "X = 1\n\n" + FILES["m.py"])
    editor.save("m.py")
    editor.change("m.py", "X = 2\n\n" + FILES["m.py"])
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]
    assert editor.text("m.py") == "X = 2\n\n" + FIXED


async def test_what_the_editor_read_anew_and_was_typed_into_is_not_behind_it(editor, project):
    """A branch is changed: editors take the new text by themselves, as one change that is like any other."""
    await editor.start(model="play:holdend")
    await editor.state()
    theirs = "# somebody else\n\n" + FILES["m.py"]
    (project / "m.py").write_text(theirs)
    editor.change("m.py", theirs)
    editor.change("m.py", "X = 1\n" + theirs)
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]
    assert editor.text("m.py") == "X = 1\n# somebody else\n\n" + FIXED
    # And again behind it.
    (project / "m.py").write_text("# once more\n\n" + FILES["m.py"])
    editor.change("m.py", "X = 2\n" + theirs)
    number = editor.request("greenloop/refine", target(editor))
    assert not (await editor.reply(number))["result"]["applied"]
    await editor.told("m.py changed on disk; reload it first")


HERE = {"line": 0, "character": 0}
UNREADABLE = {"text": "# typed\n", "range": {"start": HERE, "end": {"line": -1, "character": 0}}}


def changed(editor, *changes, version=1):
    document = {"uri": editor.uri("m.py"), "version": version}
    editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})


async def test_a_whole_text_with_a_range_of_null_is_a_whole_text(editor):
    await editor.start()
    typed = "# typed\n" + FILES["m.py"]
    editor.buffers[editor.uri("m.py")] = [1, typed]
    changed(editor, {"text": typed, "range": None, "rangeLength": None})
    assert (await refine(editor))["applied"]
    assert editor.text("m.py") == "# typed\n" + FIXED


@pytest.mark.story("a stale document is refused")
@pytest.mark.parametrize("declared", [EVERYTHING, without(EVERYTHING, "workspace.workspaceEdit.documentChanges")])
async def test_over_a_text_of_which_a_change_could_not_be_read_nothing_lands(editor, declared):
    await editor.start(declared)
    changed(editor, UNREADABLE)
    assert not (await refine(editor))["applied"]
    await editor.told("a change of m.py could not be read; close and reopen the file")
    assert not editor.edits
    # The whole text, or opening it again, is as good as knowing each change.
    editor.change("m.py", "# typed\n" + FILES["m.py"])
    await editor.action("Apply refined double")
    await editor.told("together with your edits. 3 related tests unchanged. Changed m.py:3")


async def test_over_a_buffer_that_could_not_be_opened_nothing_lands(editor):
    await editor.start(opened=("test_m.py",))
    item = {"uri": editor.uri("m.py"), "languageId": None, "version": None, "text": "# unsaved\n" + FILES["m.py"]}
    editor.notify("textDocument/didOpen", {"textDocument": item})
    assert not (await refine(editor))["applied"]
    await editor.told("a change of m.py could not be read; close and reopen the file")
    editor.open("m.py")
    await editor.action("Apply refined double")
    await editor.told("Changed m.py:2")


async def test_over_a_buffer_whose_opening_was_never_told_nothing_lands(editor):
    await editor.start(opened=("test_m.py",))
    changed(editor, {"text": "# unsaved\n" + FILES["m.py"]})
    assert not (await refine(editor))["applied"]
    assert not editor.edits


async def test_a_change_that_comes_after_its_buffer_was_closed_is_only_late(editor):
    await editor.start()
    editor.close("m.py")
    changed(editor, {"text": "# late\n" + FILES["m.py"]})
    assert (await refine(editor))["applied"]
    assert editor.text("m.py") == FIXED


async def test_touched_and_not_changed_is_no_change(editor, project):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    (project / "m.py").write_bytes(FILES["m.py"].replace("\n", "\r\n").encode())
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]


async def test_of_an_editor_that_does_not_tell_when_it_saves_nothing_is_believed(editor, project):
    await editor.start(without(EVERYTHING, "textDocument.synchronization"), model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    (project / "m.py").write_text("X = 1\n" + FILES["m.py"])
    editor.change("m.py", "X = 2\n" + FILES["m.py"])
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]


async def test_deleted_behind_an_open_buffer(editor, project):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    (project / "m.py").unlink()
    await editor.call("test/go")
    assert not (await editor.reply(number))["result"]["applied"]
    await editor.told("m.py was deleted on disk; save it first")
    editor.save("m.py")
    await editor.action("Apply refined double")
    await editor.told("Changed m.py:2")


async def test_a_closed_file_that_changed_on_disk_is_merged(editor, project):
    await editor.start(model="play:holdend", opened=("test_m.py",))
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    (project / "m.py").write_text("import os\n\n\n" + FILES["m.py"])
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]
    assert editor.text("m.py") == "import os\n\n\n" + FIXED
    assert len((await editor.state())["reverified"]) == 1


@pytest.mark.story("a stale document is refused")
@pytest.mark.parametrize("opened", [("test_m.py",), ("m.py", "test_m.py")])
async def test_renamed_or_deleted_meanwhile(editor, project, opened):
    await editor.start(model="play:holdend", opened=opened)
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    (project / "m.py").rename(project / "n.py")
    if "m.py" in opened:
        editor.close("m.py")
        editor.open("n.py")
    await editor.call("test/go")
    assert not (await editor.reply(number))["result"]["applied"]
    await editor.told("m.py was deleted during the run")
    assert not editor.edits


@pytest.mark.story("text typed meanwhile is merged and verified again")
async def test_a_test_changed_meanwhile_is_run_again_before_its_result_lands(editor):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("test_m.py", FILES["test_m.py"] + "\n\nBREAK = 1\n")
    await editor.call("test/go")
    assert not (await editor.reply(number))["result"]["applied"]
    await editor.told("the result fails with that change")
    assert not editor.edits


async def test_the_best_attempt_of_an_unsolved_run_is_merged_without_asking_its_tests(editor):
    await editor.start(model="play:stuck")
    await refine(editor)
    editor.change("m.py", "import os\n\n\n" + FILES["m.py"])
    await editor.action("Apply refined double (not verified")
    await editor.told("Best attempt applied")
    assert editor.text("m.py") == "import os\n\n\n" + FILES["m.py"].replace("x + 1", "x * 3")
    assert (await editor.state())["reverified"] == []


async def test_refused_with_a_reason_the_reason_is_told(editor):
    editor.answers["workspace/applyEdit"] = {"applied": False, "failureReason": "m.py is read-only"}
    await editor.start()
    assert not (await refine(editor))["applied"]
    await editor.told("the editor did not apply it (m.py is read-only)")


async def test_an_edit_of_an_open_and_a_closed_file_that_stays_closed(editor, project):
    """Some editors change closed files without opening them: what can be seen is looked at, the rest is believed."""
    (project / "tests").mkdir()

    def apply(params):
        editor.edits.append(params)
        change = next(
            c for c in params["edit"]["documentChanges"] if "edits" in c and c["textDocument"]["version"] == 0
        )
        editor._changed(change["textDocument"]["uri"], FIXED)
        return {"applied": True}

    editor.answers["workspace/applyEdit"] = apply
    await editor.start(model="play:tests", opened=("m.py",))
    params = {"uri": editor.uri("m.py"), "test": "test_m.py::test_double"}
    assert (await editor.call("greenloop/refine", params))["applied"]


async def test_an_edit_of_which_the_open_half_is_missing_is_not_believed(editor):
    editor.answers["workspace/applyEdit"] = {"applied": True}
    await editor.start(model="play:tests", opened=("m.py",))
    params = {"uri": editor.uri("m.py"), "test": "test_m.py::test_double"}
    assert not (await editor.call("greenloop/refine", params))["applied"]


# -- odd texts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def double(x):\r    return x + 1\r", "def double(x):\r    return x * 2\r"),
        ("def double(x):\n    return x + 1", "def double(x):\n    return x * 2"),
        (
            "A = 1\r\ndef double(x):\n    return x + 1\nB = 1\r\n",
            "A = 1\r\ndef double(x):\n    return x * 2\nB = 1\r\n",
        ),
        ("\ufeffdef double(x):\n    return x + 1\n", "\ufeffdef double(x):\n    return x * 2\n"),
        (
            "A = '\x0c\u2028'\ndef double(x):\n    return x + 1\n",
            "A = '\x0c\u2028'\ndef double(x):\n    return x * 2\n",
        ),
    ],
    ids=["cr", "no-newline-at-the-end", "mixed", "byte-order-mark", "odd-separators"],
)
async def test_everything_else_of_the_text_stays(editor, project, before, after):
    (project / "m.py").write_bytes(before.encode())
    await editor.start()
    editor.answers["workspace/applyEdit"] = by_protocol(editor)
    assert (await refine(editor))["applied"]
    assert editor.text("m.py") == after


def by_protocol(editor):
    """Applies an edit with the protocol's idea of a line: at CR, LF or both, and nowhere else."""

    def apply(params):
        editor.edits.append(params)
        for change in params["edit"]["documentChanges"]:
            uri = change["textDocument"]["uri"]
            text = editor.buffers[uri][1]
            rows = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)

            def at(point, rows=rows):
                return len("".join(rows[: point["line"]])) + point["character"]

            for edit in reversed(change["edits"]):
                start, end = at(edit["range"]["start"]), at(edit["range"]["end"])
                text = text[:start] + edit["newText"] + text[end:]
            editor._changed(uri, text)
        return {"applied": True}

    return apply


async def test_a_workspace_reached_by_a_link_and_a_buffer_by_the_real_path(editor, project, tmp_path):
    """Some editors resolve links and some do not: it is one file all the same."""
    link = tmp_path / "link"
    link.symlink_to(project, target_is_directory=True)
    real, editor.root = editor.root, link
    await editor.start(opened=())
    editor.root = real
    editor.open("m.py")
    editor.open("test_m.py")
    editor.change("m.py", "A = 1\n" + FILES["m.py"])
    assert (await refine(editor))["applied"]
    assert editor.text("m.py") == "A = 1\n" + FIXED
    assert list((await editor.state())["buffers"]) == ["m.py"]


async def test_a_uri_quoted_in_another_way(editor, project):
    await editor.start(opened=())
    plain = "file://" + str(project).replace("#", "%23").replace(" ", "%20")
    editor.uri = lambda name: f"{plain}/{name}"
    editor.open("m.py")
    editor.open("test_m.py")
    assert (await refine(editor))["applied"]
    assert editor.text("m.py") == FIXED
    assert editor.edits[0]["edit"]["documentChanges"][0]["textDocument"]["uri"] == editor.uri("m.py")


async def test_thousands_of_lines_changed_meanwhile_are_merged(editor, project):
    rows = "".join(f"V{number} = {number}\n" for number in range(6000))
    (project / "m.py").write_text(FILES["m.py"] + "\n\n" + rows)
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("m.py", FILES["m.py"] + "\n\n" + rows.replace(" = ", " =  "))
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]
    assert editor.text("m.py") == FIXED + "\n\n" + rows.replace(" = ", " =  ")


async def test_a_result_can_be_applied_while_related_tests_go_on_and_its_label_rises_then(editor):
    await editor.start(model="play:offered", apply="never")
    number = editor.request("greenloop/refine", target(editor))
    await editor.told("verified so far, 3 of 54 related tests; the rest goes on. It can be applied now.")
    assert any(action["title"].startswith("Apply refined double") for action in await editor.actions())
    await editor.execute("greenloop.apply", {"uri": editor.uri("m.py")})
    await editor.told("Changed m.py:2")
    assert editor.text("m.py") == FIXED
    await editor.call("test/go")
    assert (await editor.reply(number))["result"]["applied"]
    assert len(editor.edits) == 1


async def test_a_related_test_that_fails_later_is_said_where_the_result_is_in_the_text(editor):
    await editor.start(model="play:refusedoffer", apply="never")
    editor.request("greenloop/refine", target(editor))
    await editor.told("the rest goes on")
    await editor.execute("greenloop.apply", {"uri": editor.uri("m.py")})
    await editor.told("Changed m.py:2")
    await editor.call("test/go")
    await editor.told("1 other test(s) now fail: test_o. Undo takes the result out again.")
    await editor.call("test/settled")
    await editor.execute("greenloop.undo", {"uri": editor.uri("m.py")})
    await editor.wait(lambda _m: editor.text("m.py") == FILES["m.py"], "the text from before")
