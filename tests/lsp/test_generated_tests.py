"""Tests that a docstring became: shown before code is accepted, struck out, corrected, and named in every label."""

from pathlib import Path

import pytest

from greenloop.core.records.spec import Region
from greenloop.core.text.uris import path_from_uri
from greenloop.plugins.written_tests import stored_tests

from .conftest import EVERYTHING, FILES, without

UNWRITTEN = 'def double(x):\n    """Twice x.\n\n    Also of texts.\n    """\n    raise NotImplementedError\n'
SHOW = "Show the tests of double"


def on(editor, name="m.py"):
    return {"uri": editor.uri(name), "position": {"line": 0, "character": 4}}


def titles(actions):
    return [action["title"] for action in actions]


async def over(editor, capabilities=EVERYTHING, model="play:specified"):
    await editor.start(capabilities, model=model)
    return await editor.call("greenloop/refine", on(editor))


async def opened(editor):
    shown = await editor.wait(lambda m: m.get("method") == "window/showDocument")
    return Path(path_from_uri(shown["params"]["uri"]))


@pytest.mark.story("what only generated tests confirm is offered")
async def test_what_only_designed_tests_speak_for_is_offered_and_never_applied_by_itself(editor):
    result = await over(editor)
    assert (result["solved"], result["verified"], result["applied"]) == (True, "partially", False)
    assert not editor.edits
    apply = next(title for title in titles(await editor.actions("m.py", 1)) if title.startswith("Apply"))
    assert apply == "Apply refined double (partially verified: no tests of your own, 2/3 generated tests pass)"
    await editor.told("Not applied automatically")
    await editor.action("Apply refined", name="m.py", line=1)
    await editor.told("Fixed, not fully verified: double passes (no tests of your own, 2/3 generated tests pass)")


async def test_the_hover_shows_each_test_with_whose_it_is(editor):
    await over(editor)
    value = (await editor.hover())["value"]
    assert "Tests: 1 confirmed by you, 3 written by the model." in value
    assert "- `assert double(7) == 14` confirmed by you\n" in value
    assert "- `assert double(2) == 4` written by the model, supported by votes\n" in value
    assert "- ~~`assert double(0) == 1`~~ discarded: the votes go against it" in value
    assert "In doubt: `The docstring does not say what double(None) is.`" in value
    assert "Result: Partially verified in play: no tests of your own, 2/3 generated tests pass" in value


async def test_the_hover_in_plain_text(editor):
    await over(editor, without(EVERYTHING, "textDocument.hover"))
    value = (await editor.hover())["value"]
    assert "- [assert double(0) == 1] discarded: the votes go against it" in value
    assert "~~" not in value


async def test_they_are_shown_before_any_candidate(editor):
    editor.answers["window/showDocument"] = {"success": True}
    await editor.start(model="play:specifying")
    number = editor.request("greenloop/refine", on(editor))
    while (found := await editor.hover()) is None:
        """Every answer lets the run go on."""
    assert "- `assert double(0) == 1` written by the model\n" in found["value"]
    await editor.action(SHOW, name="m.py", line=1)
    assert "    assert double(0) == 1\n" in (await opened(editor)).read_text()
    await editor.call("test/go")
    await editor.reply(number)


@pytest.mark.parametrize("related", [True, False])
async def test_doubts_stand_in_the_summary(editor, related):
    capabilities = EVERYTHING if related else without(EVERYTHING, "textDocument.publishDiagnostics")
    await over(editor, capabilities, "play:specifiedstuck")
    summary = next(item for item in editor.shown("m.py") if item["source"] == "greenloop")
    told = [item["message"] for item in summary["relatedInformation"]] if related else summary["message"].split("\n")
    assert told[-1] == "in doubt: The docstring does not say what double(None) is."


async def test_show_opens_a_file_that_can_be_edited(editor):
    editor.answers["window/showDocument"] = {"success": True}
    await over(editor)
    assert SHOW in titles(await editor.actions("m.py", 1))
    await editor.action(SHOW, name="m.py", line=1)
    path = await opened(editor)
    text = path.read_text()
    assert "Delete a test to reject it for good." in text
    assert "from m import double\n" in text
    assert text.count("def test_") == 4
    # Nothing in there is for refining.
    editor.buffers[path.as_uri()] = [0, text]
    item = {"uri": path.as_uri(), "languageId": "python", "version": 0, "text": text}
    editor.notify("textDocument/didOpen", {"textDocument": item})
    here = {"start": {"line": 12, "character": 0}, "end": {"line": 12, "character": 0}}
    params = {"textDocument": {"uri": path.as_uri()}, "range": here, "context": {"diagnostics": []}}
    assert not await editor.call("textDocument/codeAction", params)


async def test_what_was_struck_out_is_shown_as_such(editor, tmp_path, monkeypatch):
    editor.answers["window/showDocument"] = {"success": True}
    await over(editor)
    await editor.action(SHOW, name="m.py", line=1)
    path = await opened(editor)
    first, *rest = path.read_text().split("\n\n\n")
    gone = next(part for part in rest if "double(2)" in part)
    path.write_text("\n\n\n".join([first, *(part for part in rest if part != gone)]))
    # The next run takes it over.
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    region = Region(path="m.py", qualname="double", start=1, end=2)
    known = stored_tests.load(editor.root, region, FILES["m.py"])
    stored_tests.save(known, known.spec("m"), "m")
    assert "- ~~`assert double(2) == 4`~~ removed by you" in (await editor.hover())["value"]
    await editor.action("Discard", name="m.py", line=1)
    assert SHOW in titles(await editor.actions("m.py", 1)), "the file is there"


async def test_where_the_file_cannot_be_shown_its_path_is_told(editor):
    await over(editor, without(EVERYTHING, "window.showDocument"))
    await editor.action(SHOW, name="m.py", line=1)
    await editor.told("Edit them there, then refine again")


@pytest.mark.parametrize(
    "argument", [None, {}, {"uri": 3, "target": "m.py::double"}, {"uri": "file:///x.py"}, {"uri": "u:1", "target": "x"}]
)
async def test_bad_arguments_get_a_sentence(editor, argument):
    await editor.start()
    command = {"command": "greenloop.showTests", "arguments": [argument]}
    reply = await editor.reply(editor.request("workspace/executeCommand", command))
    assert reply["error"]["code"] == -32602


async def test_without_tests_there_is_nothing_to_show(editor):
    await editor.start()
    assert SHOW not in titles(await editor.actions("m.py", 1))
    await editor.execute("greenloop.showTests", {"uri": editor.uri("m.py"), "target": "m.py::double"})
    await editor.told("There are no generated tests for double yet. Refine it to generate them from its docstring.")


# -- the way in --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "title"),
    [
        (UNWRITTEN, 1, "Implement from docstring: double"),
        (UNWRITTEN, 3, "Implement from docstring: double"),
        (UNWRITTEN, 0, "Refine until tests pass: double"),
        (UNWRITTEN, 5, "Refine until tests pass: double"),
        (UNWRITTEN.replace("raise NotImplementedError", "return x"), 1, "Refine until tests pass: double"),
        ("def double(x):\n    pass\n", 1, "Refine until tests pass: double"),
        ("class A:\n    def double(self):\n        '''Twice.'''\n", 2, "Implement from docstring: double"),
        ("x = ((\n\n" + UNWRITTEN, 3, "Implement from docstring: double"),
    ],
)
async def test_in_the_docstring_of_an_unwritten_function(editor, text, line, title):
    await editor.start()
    editor.change("m.py", text)
    (action,) = await editor.actions("m.py", line)
    assert (action["title"], action["kind"], action["tags"]) == (title, "refactor.rewrite", [1])
    assert action["command"]["command"] == "greenloop.refine"
    assert (await editor.actions("m.py", line, ["quickfix"])) == []
