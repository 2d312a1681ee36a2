"""A client with a test explorer, and with Keep and Undo at an applied result: what it asks for, and what it is sent."""

import pytest

from .conftest import EVERYTHING, FILES
from .test_presentation import target

TEST = "test_m.py::test_double"
FIXED = FILES["m.py"].replace("x + 1", "x * 2")


def able(*names):
    return {**EVERYTHING, "experimental": {"greenloop": dict.fromkeys(names, True)}}


def named(editor, **more):
    return {"uri": editor.uri("test_m.py"), "target": TEST, **more}


def selection(editor, *tests):
    return {"uri": editor.uri("test_m.py"), "tests": list(tests or [TEST])}


async def changes(editor):
    return (await editor.call("greenloop/changes", named(editor)))["changes"]


@pytest.mark.story("a test explorer lists the tests of the text that is open")
async def test_the_tests_are_those_of_the_open_text(editor):
    (editor.root / "sub").mkdir()
    (editor.root / "sub/test_n.py").write_text("")
    await editor.start(able("tests"))
    paths = [each["path"] for each in (await editor.call("greenloop/tests", {}))["files"]]
    assert paths == ["sub/test_n.py", "test_m.py"]
    editor.change("test_m.py", "class TestBox:\n    def test_a(self):\n        pass\n")
    [file] = (await editor.call("greenloop/tests", {"uri": editor.uri("test_m.py")}))["files"]
    rows = [(each["test"], each["start"], each["end"]) for each in file["tests"]]
    assert rows == [("test_m.py::TestBox", 0, 3), ("test_m.py::TestBox::test_a", 1, 3)]
    assert await editor.call("greenloop/tests", {"uri": editor.uri("m.py")}) == {"files": []}


@pytest.mark.story("a test explorer gets every result with its place")
async def test_every_result_comes_with_its_place(editor):
    await editor.start(able("tests"))
    reply = await editor.call("greenloop/runTests", selection(editor))
    assert reply == {"ran": True, "text": "1 failed in 0.1 s"}
    [sent] = editor.got("greenloop/testResults")
    [result] = sent["results"]
    assert result["text"].endswith("E       assert 6 == 10")
    assert {key: value for key, value in result.items() if key != "text"} == {
        "uri": editor.uri("test_m.py"),
        "test": TEST,
        "outcome": "failed",
        "seconds": 0.0,
        "message": "AssertionError: assert 6 == 10\nexpected 10, observed 6",
        "at": {"uri": editor.uri("test_m.py"), "line": 4},
        "expected": "10",
        "observed": "6",
    }
    editor.change("m.py", FIXED)
    await editor.call("greenloop/runTests", selection(editor, "test_m.py"))
    [result] = editor.got("greenloop/testResults")[-1]["results"]
    assert (result["outcome"], "at" in result) == ("passed", False)
    # The explorer shows the progress itself.
    assert [each["value"]["title"] for each in editor.got("$/progress") if "title" in each["value"]] == []


async def test_a_client_without_an_explorer_gets_no_results(editor):
    await editor.start()
    await editor.call("greenloop/runTests", selection(editor))
    assert editor.got("greenloop/testResults") == []


async def test_a_cancelled_request_ends_its_tests_and_no_others(editor):
    await editor.start(able("tests"))
    editor.change("m.py", "# WAIT\n" + FILES["m.py"])
    await editor.execute("greenloop.runTest", {"uri": editor.uri("test_m.py")})
    await editor.wait(lambda m: m.get("method") == "$/progress", "progress")
    number = editor.request("greenloop/runTests", selection(editor))
    editor.notify("$/cancelRequest", {"id": number})
    assert (await editor.reply(number))["error"]["code"] == -32800
    editor.notify("test/go")
    await editor.told("1 failed in 0.1 s")


@pytest.mark.parametrize("params", [{}, {"uri": 1}, {"uri": "untitled:x", "tests": ["t"]}, {"tests": [1]}])
async def test_what_cannot_be_run_is_refused_with_a_sentence(editor, params):
    await editor.start(able("tests"))
    error = (await editor.reply(editor.request("greenloop/runTests", params)))["error"]
    assert error["code"] == -32602


async def test_an_attempt_names_the_line_that_failed(editor):
    await editor.start(able("runs"), model="play:stuck")
    await editor.call("greenloop/refine", target(editor))
    await editor.wait(
        lambda m: m.get("method") == "greenloop/runs" and [r["phase"] for r in m["params"]["runs"]] == ["over"]
    )
    attempts = editor.got("greenloop/runs")[-1]["runs"][0]["attempts"]
    assert attempts[1]["at"] == {"uri": editor.uri("test_m.py"), "line": 4}


# -- an applied result ----------------------------------------------------------------------------------------------


@pytest.mark.story("an applied result is undone without what was typed since")
async def test_a_result_is_undone_and_what_was_typed_stays(editor):
    await editor.start(able("runs"))
    await editor.call("greenloop/refine", target(editor))
    row = {"uri": editor.uri("m.py"), "start": 1, "end": 2, "before": "    return x + 1\n"}
    assert await changes(editor) == [row]
    editor.change("m.py", "# typed since\n" + FIXED)
    assert await changes(editor) == [{**row, "start": 2, "end": 3}]
    await editor.execute("greenloop.undo", named(editor))
    await editor.wait(lambda _m: editor.text("m.py") == "# typed since\n" + FILES["m.py"], "the text from before")
    await editor.wait(
        lambda m: m.get("method") == "greenloop/runs" and [r["offered"] for r in m["params"]["runs"]] == [True]
    )
    assert len(editor.edits) == 2
    assert await changes(editor) == []


async def test_a_result_is_not_undone_over_what_was_typed_in_it(editor):
    await editor.start(able("runs"))
    await editor.call("greenloop/refine", target(editor))
    typed = FIXED.replace("x * 2", "x * 2 + 0")
    editor.change("m.py", typed)
    assert [(each["start"], each["before"]) for each in await changes(editor)] == [(1, "    return x + 1\n")]
    await editor.execute("greenloop.undo", named(editor))
    await editor.told("test_double was not undone: you have edited the same lines since.")
    assert editor.text("m.py") == typed


async def test_there_may_be_nothing_to_undo(editor):
    await editor.start()
    await editor.execute("greenloop.undo", named(editor))
    await editor.told("There is no applied result here.")
