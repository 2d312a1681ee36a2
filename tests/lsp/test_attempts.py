"""The attempts of a run: stepped through, as read-only pages, compared, and shown before a result is applied."""

import re
import stat
import threading
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest

from greenloop.lsp.presenters import hover_text, notifications, pages
from greenloop.lsp.state.run import Phase

from .conftest import EVERYTHING, FILES, without
from .in_process_server import InProcessServer, outcome
from .test_presentation import target

TEST = "test_m.py::test_double"


async def refined(editor, capabilities=EVERYTHING, **options):
    await editor.start(capabilities, **options)
    return await editor.call("greenloop/refine", target(editor))


async def step(editor, attempt, **more):
    return await editor.execute(
        "greenloop.showAttempt", {"uri": editor.uri("m.py"), "target": TEST, "attempt": attempt, **more}
    )


def sources(editor, name="test_m.py"):
    return [item["source"] for item in editor.shown(name)]


async def opened(editor, count=1):
    """The page that was opened last."""
    await editor.wait(lambda _m: len(editor.got("window/showDocument")) >= count, "a page")
    params = editor.got("window/showDocument")[-1]
    return Path(unquote(urlsplit(params["uri"]).path))


# -- stepping -----------------------------------------------------------------------------------------------------


@pytest.mark.story("every attempt can be seen")
async def test_the_attempts_are_stepped_through(editor):
    await refined(editor, model="play:stuck")
    assert await step(editor, "previous") == 0
    case, summary = editor.shown()
    assert case["source"] == "greenloop attempt 0/5"
    assert "assert 6 == 10" in case["message"]
    assert summary["message"].endswith("(your code is shown)")
    assert await step(editor, "previous") == 0
    assert await step(editor, "next") == 1
    assert sources(editor) == ["greenloop attempt 1/5", "greenloop"]
    assert await step(editor, "next") == 1
    assert await step(editor, 0) == 0
    assert len(editor.shown()[1]["relatedInformation"]) == 2, "the summary has every attempt, whichever is shown"


async def test_those_of_a_solved_run_too_until_they_are_discarded(editor):
    await refined(editor)
    assert editor.shown() == []
    assert await step(editor, 1) == 1
    case, summary = editor.shown()
    assert case["source"] == "greenloop attempt 1/5"
    assert (summary["code"], summary["message"]) == ("solved", "test_double is solved (attempt 1 is shown)")
    assert await step(editor, 2) == 2
    assert sources(editor) == ["greenloop"], "it passed"
    await editor.execute("greenloop.discard", {"uri": editor.uri("m.py"), "target": TEST})
    await editor.diagnosed(lambda items: not items)
    assert editor.shown() == []


async def test_a_new_attempt_takes_over_again(editor):
    await editor.start(model="play:hold")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    assert await step(editor, 0) == 0
    assert sources(editor)[0] == "greenloop attempt 0/5"
    await editor.call("test/go")
    await editor.reply(number)
    await editor.wait(
        lambda m: (
            m.get("method") == "textDocument/publishDiagnostics"
            and [item["source"] for item in m["params"]["diagnostics"]] == ["greenloop"]
        ),
        "attempt 2, which passed",
    )
    assert editor.shown() == []


async def test_the_hover_tells_of_the_shown_attempt(editor):
    await refined(editor)
    assert "Best attempt:" in (await editor.hover())["value"]
    await step(editor, 1)
    value = (await editor.hover())["value"]
    assert "Attempt 1 (shown):" in value
    assert "+    return x * 3" in value
    assert "x * 2" not in value


@pytest.mark.parametrize(
    ("attempt", "why"),
    [
        (2, "There is no attempt 2; there are 0 to 1."),
        (-1, "'attempt' must be"),
        ("last", "'attempt' must be"),
        (True, "'attempt' must be"),
        ([1], "'attempt' must be"),
    ],
)
@pytest.mark.parametrize("command", ["showAttempt", "compare"])
async def test_an_attempt_that_there_is_not_is_refused(editor, attempt, why, command):
    await refined(editor, model="play:stuck")
    argument = {"uri": editor.uri("m.py"), "target": TEST, "attempt": attempt}
    params = {"command": f"greenloop.{command}", "arguments": [argument]}
    reply = await editor.reply(editor.request("workspace/executeCommand", params))
    assert reply["error"]["code"] == -32602
    assert why in reply["error"]["message"]
    assert sources(editor)[0] == "greenloop attempt 1/5"


async def test_where_nothing_was_tried_that_is_said(editor):
    await editor.start()
    assert await step(editor, 1) is None
    await editor.told("There are no attempts here.")


# -- pages --------------------------------------------------------------------------------------------------------


@pytest.mark.story("every attempt can be seen")
async def test_the_page_has_everything_and_is_read_only(editor, tmp_path):
    editor.answers["window/showDocument"] = {"success": True}
    await refined(editor, model="play:explained")
    await editor.execute("greenloop.showAttempts", {"uri": editor.uri("m.py"), "target": TEST})
    path = await opened(editor)
    assert path.is_relative_to(tmp_path / "state")
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    text = path.read_text()
    assert "Read-only" in text.splitlines()[0]
    assert re.findall("^#+ .*", text, re.MULTILINE) == [
        "# `test_m.py::test_double`",
        "## Your code",
        "## Attempt 1",
    ]
    for expected in (
        "`not solved (attempts)`",
        "draft by `play`: 400 tokens (370 read, 30 written), $0.0000, model 1.0 s, tests 0.1 s.",
        "+    return x * 3",
        ">       assert double(5) == 10",
        "Explanation:",
        "Feedback to the model:",
        "Model's answer:",
    ):
        assert expected in text


async def test_one_file_a_target_however_often_it_is_written(editor, tmp_path):
    editor.answers["window/showDocument"] = {"success": True}
    await refined(editor)
    for count in (1, 2):
        await editor.execute("greenloop.showAttempts", {"uri": editor.uri("m.py")})
        await opened(editor, count)
    assert len(list((tmp_path / "state/greenloop/reports").iterdir())) == 1


async def test_all_of_a_document_stand_on_one_page(editor):
    editor.answers["window/showDocument"] = {"success": True}
    await refined(editor)
    await editor.call("greenloop/refine", {"uri": editor.uri("m.py"), "position": {"line": 0, "character": 5}})
    await editor.execute("greenloop.showAttempts", {"uri": editor.uri("m.py")})
    text = (await opened(editor)).read_text()
    titles = [line for line in text.splitlines() if line.startswith("# ")]
    assert titles == ["# `m.py::double`", "# `test_m.py::test_double`"]


@pytest.mark.parametrize("reply", [None, {"success": False}, "undeclared"])
async def test_where_it_cannot_be_opened_its_path_is_named(editor, reply, tmp_path):
    missing = ("window.showDocument",) if reply == "undeclared" else ()
    editor.answers["window/showDocument"] = reply
    await refined(editor, without(EVERYTHING, *missing))
    await editor.execute("greenloop.showAttempts", {"uri": editor.uri("m.py")})
    said = (await editor.told("The attempts are in"))["params"]["message"]
    assert Path(said.removeprefix("The attempts are in ")).is_relative_to(tmp_path / "state")


async def test_a_comparison_with_the_text_as_it_is_now(editor):
    editor.answers["window/showDocument"] = {"success": True}
    await refined(editor, model="play:stuck")
    editor.change("m.py", "import os\n\n\n" + FILES["m.py"])
    await compare(editor, 1)
    text = (await opened(editor)).read_text()
    assert " def double(x):\n-    return x + 1\n+    return x * 3\n" in text
    assert "-import os" not in text, "what was typed since is no difference to the attempt"


async def test_what_was_typed_in_the_same_lines_is_said_and_shown(editor):
    editor.answers["window/showDocument"] = {"success": True}
    await refined(editor, model="play:stuck")
    editor.change("m.py", FILES["m.py"].replace("x + 1", "x + 2"))
    await compare(editor, 1)
    text = (await opened(editor)).read_text()
    assert "`m.py` also changed in the same lines since" in text
    assert "-    return x + 2\n+    return x * 3\n" in text
    await compare(editor, 0)
    text = (await opened(editor, 2)).read_text()
    assert "-    return x + 2\n+    return x + 1\n" in text


async def test_an_attempt_that_is_in_the_text_differs_in_nothing(editor):
    editor.answers["window/showDocument"] = {"success": True}
    assert (await refined(editor))["applied"]
    await compare(editor, 2)
    assert "Your text already contains this change." in (await opened(editor)).read_text()


async def compare(editor, attempt):
    argument = {"uri": editor.uri("m.py"), "target": TEST, "attempt": attempt}
    await editor.execute("greenloop.compare", argument)


# -- apply = ask --------------------------------------------------------------------------------------------------


def asked(editor):
    return editor.got("window/showMessageRequest")


def titles(params):
    return [action["title"] for action in params["actions"]]


async def test_the_change_is_opened_before_it_is_asked_about(editor):
    editor.answers["window/showDocument"] = {"success": True}
    editor.answers["window/showMessageRequest"] = {"title": "Apply"}
    assert (await refined(editor, apply="ask"))["applied"]
    methods = [m["method"] for m in editor.inbox if m and m.get("method", "").startswith("window/show")]
    assert methods[:2] == ["window/showDocument", "window/showMessageRequest"]
    assert "-    return x + 1\n+    return x * 2\n" in (await opened(editor)).read_text()
    assert titles(asked(editor)[0]) == ["Apply", "Keep"]
    assert "\n" not in asked(editor)[0]["message"]


async def test_where_it_cannot_be_opened_the_question_has_its_first_lines(editor):
    editor.answers["window/showMessageRequest"] = {"title": "Keep"}
    assert not (await refined(editor, without(EVERYTHING, "window.showDocument"), apply="ask"))["applied"]
    message = asked(editor)[0]["message"]
    assert "-    return x + 1\n+    return x * 2" in message
    assert "The full change is in " in message
    assert len(message.splitlines()) < 26
    assert titles(asked(editor)[0]) == ["Apply", "Keep"]


async def test_an_editor_that_cannot_ask_is_shown_nothing_and_keeps_the_result(editor):
    result = await refined(editor, without(EVERYTHING, "window.showMessage"), apply="ask")
    assert not result["applied"]
    assert not editor.got("window/showDocument")
    assert await editor.actions()


def test_a_page_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = pages._write_file("b.md", "whole").parent
    (folder / "a.md").mkdir()  # which no file can replace
    with pytest.raises(OSError, match="directory"):
        pages._write_file("a.md", "half")
    assert sorted(file.name for file in folder.iterdir()) == ["a.md", "b.md"]


class Readers(list):
    """No runs, and the threads that read them."""

    def __iter__(self):
        self.threads = [*getattr(self, "threads", []), threading.current_thread()]
        return super().__iter__()


async def test_a_page_of_long_files_holds_up_nobody():
    runs = Readers()
    await pages.Pages(SimpleNamespace(client=None, documents=None)).attempts(runs)
    assert runs.threads[0] is not threading.main_thread()


def test_a_hover_compares_long_files_once(tmp_path, monkeypatch):
    inside = InProcessServer(tmp_path, FILES, EVERYTHING, monkeypatch)
    run = inside.run(phase=Phase.OVER, outcome=outcome(solved=False))
    first = inside.hover("test_m.py", 3)
    assert "return x * 2" in first
    known = {**hover_text._DIFFS[run]}
    assert known
    assert inside.hover("test_m.py", 3) == first
    assert [*map(id, hover_text._DIFFS[run].values())] == [*map(id, known.values())]


@pytest.mark.parametrize(
    ("why", "told"),
    [
        (
            "Not solved after 2 attempts: there is nothing new to try.",
            "f is not solved after 2 attempts: there is nothing new",
        ),
        ("The tests changed.", "f is not solved: The tests changed."),
        ("", "f is not solved"),
    ],
)
def test_that_it_is_not_solved_is_said_once(why, told):
    said = notifications.not_solved_text("f", why)
    assert said.startswith(told)
    assert said.lower().count("not solved") == 1
