"""Code lenses: where they stand, what they do in each state, when the editor is asked to look again; results in hovers."""

import asyncio
from types import SimpleNamespace

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.lsp.connection.client import Capabilities
from greenloop.lsp.features.code_lens import LensRefresher
from greenloop.lsp.state.results import Result
from greenloop.lsp.state.run import Phase

from .conftest import EVERYTHING, Editor, spawn, without
from .in_process_server import InProcessServer, outcome

TESTS = """\
import pytest
from m import double


@pytest.mark.parametrize("x", [1, 2])
def test_double(x):
    assert double(x) == 2 * x


class TestMany:
    def test_one(self):
        pass


def helper():
    pass
"""
CODE = '''\
def double(x):
    return x + 1


def half(x):
    """Half of it.

    >>> half(4)
    2
    """


class Plain:
    def method(self):
        pass
'''
FILES = {"test_m.py": TESTS, "m.py": CODE}
LENSES = {
    **EVERYTHING,
    "workspace": {**EVERYTHING["workspace"], "codeLens": {"refreshSupport": True}},
}
DOUBLE = "test_m.py::test_double"


@pytest.fixture
def inside(tmp_path, monkeypatch):
    return InProcessServer(tmp_path, FILES, LENSES, monkeypatch)


def test_on_tests_their_classes_and_functions_with_examples(inside):
    uri = inside.uri("test_m.py")
    assert inside.lenses("test_m.py") == {
        4: {
            "▶ Run": ("greenloop.runTest", {"uri": uri, "target": DOUBLE}),
            "Refine": ("greenloop.refine", {"uri": uri, "test": DOUBLE}),
        },
        9: {
            "▶ Run": ("greenloop.runTest", {"uri": uri, "target": "test_m.py::TestMany"}),
            "Refine all failing": ("greenloop.refineAll", {"uri": uri, "target": "test_m.py::TestMany"}),
        },
        10: {
            "▶ Run": ("greenloop.runTest", {"uri": uri, "target": "test_m.py::TestMany::test_one"}),
            "Refine": ("greenloop.refine", {"uri": uri, "test": "test_m.py::TestMany::test_one"}),
        },
    }
    assert list(inside.lenses("m.py")) == [4]
    assert inside.lenses("m.py")[4]["Refine"][1]["test"] == "m.py::half"


def test_a_class_with_examples_is_refined_by_them(tmp_path, monkeypatch):
    code = 'class Box:\n    """A box.\n\n    >>> Box()\n    """\n'
    inside = InProcessServer(tmp_path, {"m.py": code}, LENSES, monkeypatch)
    uri = inside.uri("m.py")
    assert inside.lenses("m.py")[0] == {
        "▶ Run": ("greenloop.runTest", {"uri": uri, "target": "m.py::Box"}),
        "Refine": ("greenloop.refine", {"uri": uri, "test": "m.py::Box"}),
    }


def test_on_functions_of_which_tests_are_known(inside):
    inside.server.parts.results.reached_functions = lambda _root, path: {"Plain.method"} if path == "m.py" else ()
    assert list(inside.lenses("m.py")) == [4, 13]
    inside.run()
    assert list(inside.lenses("m.py")) == [0, 4, 13]


@pytest.mark.parametrize(
    ("state", "titles"),
    [
        ({"phase": Phase.QUEUED, "started": None, "attempts": []}, ["Cancel refinement", "waiting"]),
        ({"started": None, "attempts": []}, ["Cancel refinement", "starting"]),
        ({}, ["Cancel refinement", "attempt 1/5, 0/1 passed"]),
        ({"phase": Phase.LANDING}, ["attempt 1/5, 0/1 passed"]),
        (
            {"phase": Phase.OVER, "outcome": outcome()},
            ["▶ Run", "Refine", "Apply refined", "✓ verified, not applied"],
        ),
        (
            {"phase": Phase.OVER, "outcome": outcome(verified=Verified.PARTIALLY)},
            ["▶ Run", "Refine", "Apply refined", "✓ partially verified, not applied"],
        ),
        ({"phase": Phase.OVER, "outcome": outcome(), "applied": True}, ["▶ Run", "Refine", "✓ verified"]),
        (
            {"phase": Phase.OVER, "outcome": outcome(solved=False, changes=False)},
            ["▶ Run", "Refine", "✗ not solved: AssertionError: assert 11 == 10"],
        ),
        (
            {"phase": Phase.OVER, "attempts": [], "refusal": "No sandbox passes its test.\nSee docs."},
            ["▶ Run", "Refine", "✗ No sandbox passes its test. See docs."],
        ),
        ({"phase": Phase.OVER, "attempts": [], "cancelled": True}, ["▶ Run", "Refine", "cancelled"]),
    ],
)
def test_in_each_state_of_a_run(inside, state, titles):
    inside.run(**state)
    found = inside.lenses("test_m.py")[4]
    assert list(found) == titles
    for command, argument in found.values():
        assert argument["uri"] == inside.uri("test_m.py")
        assert DOUBLE in (argument.get("target"), argument.get("test")), command
    assert list(inside.lenses("m.py")) == ([0, 4] if state.get("started", True) else [4])


def test_a_queued_run_says_how_it_stands(inside):
    inside.run(started=None, attempts=[], status="waiting, 2 ahead of it")
    assert list(inside.lenses("test_m.py")[4]) == ["Cancel refinement", "waiting, 2 ahead of it"]


@pytest.mark.parametrize(
    ("result", "title"),
    [
        (Result(outcome="passed", passed=3, total=3), "✓ 3/3"),
        (Result(outcome="failed", passed=1, total=2, message="assert 2 == 3"), "✗ 1/2 assert 2 == 3"),
        (Result(outcome="error", passed=0, total=1), "✗ 0/1 error"),
        (Result(outcome="skipped", passed=0, total=1), "skipped"),
        (Result(outcome="failed", passed=0, total=1, message="x\x1b[31m" + "y" * 99), "✗ 0/1 x" + "y" * 52 + "…"),
    ],
)
def test_the_last_result(inside, result, title):
    inside.server.parts.results.put(inside.root, {("test_m.py", "test_double"): result})
    found = inside.lenses("test_m.py")[4]
    assert list(found) == ["▶ Run", "Refine", title]
    assert found[title] == ("greenloop.runTest", {"uri": inside.uri("test_m.py"), "target": DOUBLE})
    assert title in inside.hover("test_m.py", 5)
    assert title in inside.hover("test_m.py", 4), "the decorator"
    assert title in inside.hover("test_m.py", 6), "the body"
    assert inside.hover("test_m.py", 9) is None


async def test_a_result_counts_until_a_run_ends_and_again_when_there_is_a_newer_one(inside):
    results, key = (
        inside.server.parts.results,
        {("test_m.py", "test_double"): Result(outcome="failed", passed=0, total=1)},
    )
    results._clock = lambda: 5.0
    results.put(inside.root, key)
    inside.run(phase=Phase.OVER, outcome=outcome(), applied=True, ended_at=7.0)
    assert "✓ verified" in inside.lenses("test_m.py")[4]
    results._clock = lambda: 9.0
    results.put(inside.root, key)
    found = inside.lenses("test_m.py")[4]
    assert found["✗ 0/1 failed"][0] == "greenloop.showAttempts"
    results.forget(inside.root, "test_m.py")
    assert "✓ verified" in inside.lenses("test_m.py")[4]


def test_a_class_tells_of_its_tests(inside):
    inside.server.parts.results.put(
        inside.root, {("test_m.py", "TestMany.test_one"): Result(outcome="passed", passed=1, total=1)}
    )
    assert inside.hover("test_m.py", 9) == "```text\nTestMany.test_one: ✓ 1/1\n```"
    inside.run("test_m.py::TestMany::test_one")
    assert inside.hover("test_m.py", 9) == "```text\nTestMany.test_one: attempt 1/5, 0/1 passed\n```"
    assert "| attempt |" in inside.hover("test_m.py", 10)


def test_results_in_plain_text(tmp_path, monkeypatch):
    inside = InProcessServer(tmp_path, FILES, without(EVERYTHING, "textDocument.hover"), monkeypatch)
    inside.server.parts.results.put(
        tmp_path, {("test_m.py", "test_double"): Result(outcome="passed", passed=2, total=2)}
    )
    assert inside.hover("test_m.py", 5) == "test_double: ✓ 2/2"


def test_the_setting_switches_them_off(tmp_path, monkeypatch):
    inside = InProcessServer(tmp_path, FILES, LENSES, monkeypatch, **{"editor.lens": False})
    assert inside.lenses("test_m.py") == {}
    inside.server.parts.settings.from_client.pushed = {"editor.lens": True}
    assert list(inside.lenses("test_m.py")) == [4, 9, 10]


@pytest.mark.parametrize("text", ["def test_a(:\n    x = (\n\n\ndef test_b():\n    pass\n", "x = 1\n", ""])
def test_in_broken_and_empty_files(tmp_path, monkeypatch, text):
    inside = InProcessServer(tmp_path, {"test_m.py": text}, LENSES, monkeypatch)
    wanted = {row for row, line in enumerate(text.split("\n")) if line.startswith("def test")}
    assert set(inside.lenses("test_m.py")) == wanted


@pytest.mark.story("a lens stands above each test")
async def test_over_the_wire_they_are_whole_and_the_editor_is_told_of_changes(editor):
    editor.answers["workspace/codeLens/refresh"] = None
    result = await editor.start(LENSES)
    assert result["capabilities"]["codeLensProvider"] == {"resolveProvider": False}
    document = {"textDocument": {"uri": editor.uri("test_m.py")}}
    lenses = await editor.call("textDocument/codeLens", document)
    start = {"line": 3, "character": 0}
    argument = {"uri": editor.uri("test_m.py"), "target": DOUBLE}
    assert lenses[0] == {
        "range": {"start": start, "end": start},
        "command": {"title": "▶ Run", "command": "greenloop.runTest", "arguments": [argument]},
    }
    (refine,) = [each["command"] for each in lenses if each["command"]["title"] == "Refine"]
    await editor.execute(refine["command"], *refine["arguments"])
    await editor.told("Fixed: ")
    await editor.wait(lambda m: m.get("method") == "workspace/codeLens/refresh", "a refresh")
    titles = [each["command"]["title"] for each in await editor.call("textDocument/codeLens", document)]
    assert titles == ["▶ Run", "Refine", "✓ verified"]


@pytest.mark.parametrize("capabilities", [EVERYTHING, LENSES])
async def test_no_refresh_for_who_cannot_or_never_asked_for_lenses(editor, capabilities):
    await editor.start(capabilities)
    if "codeLens" not in capabilities["workspace"]:
        await editor.call("textDocument/codeLens", {"textDocument": {"uri": editor.uri("test_m.py")}})
    await editor.action("Refine")
    await editor.told("Fixed: ")
    await editor.stop()
    assert not editor.got("workspace/codeLens/refresh")


async def test_many_changes_are_one_request_and_one_that_is_not_answered_holds_up_nothing(inside):
    """At most one is under way; what changes meanwhile is told by the next."""
    asked, answered = asyncio.Event(), asyncio.Event()
    count = []

    async def refresh():
        count.append(1)
        asked.set()
        await answered.wait()

    client = SimpleNamespace(capabilities=Capabilities(refresh_lenses=True), refresh_lenses=refresh)
    refresher = LensRefresher(SimpleNamespace(client=client, tasks=inside.server.parts.tasks), interval=0)
    refresher.schedule()
    refresher.were_requested = True
    for _ in range(20):
        refresher.schedule()
    await asked.wait()
    assert len(count) == 1
    refresher.schedule()
    refresher.schedule()
    asked.clear()
    answered.set()
    await asked.wait()
    assert len(count) == 2
    await inside.server.parts.tasks.close()
    assert len(count) == 2


@pytest.mark.needs("bubblewrap")
@pytest.mark.timeout(120)
async def test_a_function_has_lenses_as_soon_as_a_test_was_seen_to_reach_it(project, tmp_path):
    """The real engine: nothing of a function is known before its test ran in the sandbox."""
    process = await spawn(tmp_path, "-m", "greenloop.lsp")
    real = Editor(process, project)
    real.answers["workspace/codeLens/refresh"] = None
    await real.start(LENSES, sandbox={"kind": "bubblewrap"})

    async def titles(name):
        lenses = await real.call("textDocument/codeLens", {"textDocument": {"uri": real.uri(name)}})
        return [lens["command"]["title"] for lens in lenses]

    assert await titles("m.py") == []
    await real.execute("greenloop.runTest", {"uri": real.uri("test_m.py"), "target": DOUBLE})
    await real.told("1 failed in ")
    await real.wait(lambda m: m.get("method") == "workspace/codeLens/refresh", "a refresh")
    assert await titles("m.py") == ["▶ Run", "Refine"]
    assert (await titles("test_m.py"))[:2] == ["▶ Run", "Refine"]
    assert (await titles("test_m.py"))[2].startswith("✗ 0/1 ")
    titles_of = [action["title"] for action in await real.actions("m.py", 0)]
    assert titles_of == ["Refine until tests pass: double", "Run in the sandbox: double"]
    assert await real.stop() == 0
    real.reader.cancel()
