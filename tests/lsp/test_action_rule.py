"""At most two actions of the kinds that every editor lists, at every line, in every state, for every captured editor."""

from dataclasses import replace

import pytest
from lsprotocol import types as lsp

from greenloop.lsp.runs.requests import run_filter
from greenloop.lsp.state.questions import Question
from greenloop.lsp.state.run import Phase
from greenloop_sandbox import CaseResult

from .conftest import EVERYTHING
from .in_process_server import PROFILES, InProcessServer, captured, outcome, tried

TEST = '''\
import pytest
from m import double

LIMIT = 3


@pytest.fixture
def data():
    return 1


@pytest.mark.parametrize("x", [1, 2])
def test_double(x):
    """Doc."""

    def inner():
        return x

    # a comment within
    assert double(5) == 10

# a comment between


class TestMany:
    """Doc."""

    async def test_one(self):
        assert double(1) == 2

    class TestInner:
        def test_two(self):
            assert double(2) == 4


def helper():
    pass
'''
CODE = "def double(x):\n    return x + 1\n\n\nclass Box:\n    @property\n    def size(self):\n        return 1\n"
FILES = {"test_m.py": TEST, "m.py": CODE}
TOP = {"quickfix", "refactor.rewrite"}
INVOKED, AUTOMATIC = lsp.CodeActionTriggerKind.Invoked, lsp.CodeActionTriggerKind.Automatic
FULL = {
    **EVERYTHING,
    "textDocument": {
        **EVERYTHING["textDocument"],
        "codeAction": {**EVERYTHING["textDocument"]["codeAction"], "disabledSupport": True},
    },
}


def ahead():
    """An unsolved run whose second attempt passes one of two cases."""
    attempts = [tried(number, "test_m.py::test_double") for number in range(3)]
    cases = [*attempts[2].verdict.cases, CaseResult(id="test_m.py::test_double[2]", outcome="passed")]
    attempts[2] = replace(attempts[2], verdict=replace(attempts[2].verdict, cases=tuple(cases)))
    return {
        "phase": Phase.OVER,
        "attempts": attempts,
        "outcome": replace(outcome(solved=False), attempts=attempts, best=2),
    }


STATES = {
    "idle": None,
    "waiting": {"phase": Phase.QUEUED, "started": None, "attempts": []},
    "running": {},
    "landing": {"phase": Phase.LANDING},
    "offered": {"phase": Phase.OVER, "outcome": outcome()},
    "unsolved": {"phase": Phase.OVER, "outcome": outcome(solved=False)},
    "ahead": ahead(),
    "applied": {"phase": Phase.OVER, "outcome": outcome(), "applied": True},
    "refused": {"phase": Phase.OVER, "refusal": "No sandbox.", "attempts": []},
}


def put(server_in_process, state):
    """The state's run, of which three attempts are known unless it says otherwise."""
    return None if STATES[state] is None else server_in_process.run(**{"number": 3} | STATES[state])


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("state", STATES)
def test_at_most_two_for_every_line_and_editor(tmp_path, monkeypatch, profile, state):
    capabilities = captured(profile)
    server_in_process = InProcessServer(tmp_path, FILES, capabilities, monkeypatch)
    put(server_in_process, state)
    literals = "codeActionLiteralSupport" in capabilities["textDocument"].get("codeAction", {})
    for name, text in FILES.items():
        for row in range(text.count("\n") + 1):
            for only in (None, [""], ["refactor"], ["quickfix"], ["source"]):
                found = server_in_process.actions(name, row, only, INVOKED)
                if not literals:
                    assert all(isinstance(each, lsp.Command) for each in found)
                    continue
                assert sum(each.kind in TOP for each in found) <= 2, (name, row, only)
                assert not [each for each in found if each.disabled]
                assert not [each for each in found if each.is_preferred is not None or each.data is not None]
                if only is None:
                    assert all(each.kind in TOP or each.kind == "refactor.rewrite.greenloop" for each in found)
            assert len(server_in_process.actions(name, row, None, AUTOMATIC)) <= 2


@pytest.mark.parametrize("row", [*range(11), *range(20, 24), 26, 29, 33, 34, 35])
def test_nothing_where_there_is_nothing_to_refine(tmp_path, monkeypatch, row):
    server_in_process = InProcessServer(tmp_path, FILES, FULL, monkeypatch)
    assert server_in_process.actions("test_m.py", row, None, INVOKED) == []
    assert server_in_process.actions("test_m.py", row, ["refactor"], INVOKED) == []


FIRST = {
    "idle": ["Refine until tests pass: test_double", "Run in the sandbox: test_double"],
    "waiting": ["Cancel refinement: test_double"],
    "running": ["Cancel refinement: test_double", "Show attempts: test_double"],
    "landing": ["Show attempts: test_double"],
    "offered": ["Apply refined double (verified)", "Show attempts: test_double"],
    "unsolved": ["Refine until tests pass: test_double", "Show attempts: test_double"],
    "ahead": ["Apply refined double (not verified: 1 of 2 tests pass)", "Show attempts: test_double"],
    "applied": ["Refine until tests pass: test_double", "Show attempts: test_double"],
    "refused": ["Refine until tests pass: test_double", "Run in the sandbox: test_double"],
}


@pytest.mark.parametrize("state", STATES)
def test_the_most_useful_come_first(tmp_path, monkeypatch, state):
    server_in_process = InProcessServer(tmp_path, FILES, FULL, monkeypatch)
    put(server_in_process, state)
    for row in (11, 12, 13, 15, 18, 19):
        assert [each.title for each in server_in_process.actions("test_m.py", row, None, AUTOMATIC)] == FIRST[state]


@pytest.mark.parametrize("state", [state for state in STATES if state not in ("idle", "landing")])
def test_who_cannot_ask_by_kind_reaches_all_that_ends_or_uses_a_run(tmp_path, monkeypatch, state):
    server_in_process = InProcessServer(tmp_path, FILES, FULL, monkeypatch)
    run = put(server_in_process, state)
    found = {each.command.command for each in server_in_process.actions("test_m.py", 12)}
    wanted = {"greenloop.cancel"} if run.running else {"greenloop.discard", "greenloop.refine", "greenloop.runTest"}
    wanted |= {"greenloop.apply"} if run.offered else set()
    wanted |= {"greenloop.showAttempts"} if run.attempts else set()
    assert found == wanted


async def test_answers_come_before_everything(tmp_path, monkeypatch):
    server_in_process = InProcessServer(tmp_path, FILES, FULL, monkeypatch)
    question = Question(text="Is it?", options=("Yes", "No", "It is 10", "The right value is …"))
    server_in_process.run(question=question)
    shown = server_in_process.actions("test_m.py", 12)
    expected = ["Is it? Yes", "Is it? No", "Is it? It is 10", "Cancel refinement: test_double"]
    assert [each.title for each in shown] == [*expected, "Show attempts: test_double"]
    assert [each.kind for each in shown][:3] == ["quickfix", "quickfix", "refactor.rewrite.greenloop"]


@pytest.mark.parametrize(
    ("row", "target"),
    [
        (24, "test_m.py::TestMany"),
        (27, "test_m.py::TestMany"),
        (30, "test_m.py::TestMany::TestInner"),
        (31, "test_m.py::TestMany::TestInner"),
    ],
)
def test_all_failing_tests_of_a_class(tmp_path, monkeypatch, row, target):
    server_in_process = InProcessServer(tmp_path, FILES, FULL, monkeypatch)
    found = [each.command for each in server_in_process.actions("test_m.py", row, ["refactor"])]
    (everything,) = [each.arguments for each in found if each.command == "greenloop.refineAll"]
    assert everything == [{"uri": server_in_process.uri("test_m.py"), "target": target}]


def test_a_function_is_run_where_a_test_is_known(tmp_path, monkeypatch):
    server_in_process = InProcessServer(tmp_path, FILES, FULL, monkeypatch)
    assert [each.title for each in server_in_process.actions("m.py", 0)] == ["Refine until tests pass: double"]
    server_in_process.server.parts.results.reached_functions = lambda root, path: (
        {"double"} if (root, path) == (tmp_path, "m.py") else ()
    )
    run = server_in_process.actions("m.py", 0)[1]
    assert (run.title, run.command.arguments[0]["target"]) == ("Run in the sandbox: double", "m.py::double")
    assert [each.title for each in server_in_process.actions("m.py", 6)] == ["Refine until tests pass: size"]


@pytest.mark.parametrize(("name", "row"), [("m.py", 1), ("test_m.py", 35), ("test_m.py", 12)])
def test_where_a_check_tells_of_a_failing_test(tmp_path, monkeypatch, name, row):
    """In the function where it failed, in a helper, and in the test itself."""
    server_in_process = InProcessServer(tmp_path, FILES, FULL, monkeypatch)
    where = lsp.Range(start=lsp.Position(line=row, character=0), end=lsp.Position(line=row, character=4))
    data = {"test": "test_m.py::test_double[1]"}
    ours = lsp.Diagnostic(range=where, message="test_double[1]: assert", source="greenloop", data=data)
    first, run = server_in_process.actions(name, row, diagnostics=[ours])
    assert (first.title, first.kind, first.diagnostics) == ("Refine until tests pass: test_double", "quickfix", [ours])
    argument = {"test": "test_m.py::test_double[1]"} if row != 12 else {"position": {"line": 12, "character": 0}}
    assert first.command.arguments == [{"uri": server_in_process.uri(name), **argument}]
    assert run.command.arguments[0]["target"].startswith("test_m.py::test_double")


@pytest.mark.parametrize(
    "name",
    [
        "conftest.py",
        "setup.py",
        "m.pyi",
        ".venv/lib/python3.11/site-packages/pkg/m.py",
        "venv/Lib/site-packages/m.py",
        "env/lib64/python3.12/json/decoder.py",
    ],
)
def test_nothing_where_no_refinement_could_work(tmp_path, monkeypatch, name):
    """Fixtures, stubs, installed packages: no test says what they should do, or nobody mends them."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    server_in_process = InProcessServer(tmp_path, {**FILES, name: CODE}, FULL, monkeypatch)
    server_in_process.server.parts.results.reached_functions = lambda _root, _path: {"double"}
    assert [
        server_in_process.actions(name, row, only, INVOKED) for row in range(4) for only in (None, ["refactor"])
    ] == [[]] * 8
    assert server_in_process.lenses(name) == {}
    assert server_in_process.hover(name, 0) is None


def test_a_library_outside_of_every_folder_has_nothing_either(tmp_path, monkeypatch):
    elsewhere = tmp_path / "usr/lib/python3.11/json"
    elsewhere.mkdir(parents=True)
    (elsewhere / "decoder.py").write_text(CODE)
    (tmp_path / "w").mkdir()
    server_in_process = InProcessServer(tmp_path / "w", FILES, FULL, monkeypatch)
    assert server_in_process.actions("../usr/lib/python3.11/json/decoder.py", 0) == []
    assert server_in_process.actions("m.py", 0)


def test_a_function_with_examples_can_be_run(tmp_path, monkeypatch):
    code = 'def half(x):\n    """\n    >>> half(4)\n    2\n    """\n'
    server_in_process = InProcessServer(tmp_path, {"m.py": code}, FULL, monkeypatch)
    titles = ["Refine until tests pass: half", "Run in the sandbox: half"]
    assert [each.title for each in server_in_process.actions("m.py", 0)] == titles


def test_where_a_file_cannot_be_collected_all_of_it_is_meant(tmp_path, monkeypatch):
    """At the import of what nobody has written yet."""
    server_in_process = InProcessServer(tmp_path, FILES, FULL, monkeypatch)
    where = lsp.Range(start=lsp.Position(line=1, character=0), end=lsp.Position(line=1, character=20))
    data = {"test": "test_m.py"}
    ours = lsp.Diagnostic(range=where, message="test_m.py cannot be collected", source="greenloop", data=data)
    refine, run = server_in_process.actions("test_m.py", 1, diagnostics=[ours])
    uri = server_in_process.uri("test_m.py")
    assert (refine.title, refine.kind) == ("Refine until tests pass: test_m.py", "quickfix")
    assert refine.command.arguments == [{"uri": uri, "test": "test_m.py"}]
    assert run.command.arguments == [{"uri": uri}]
    # In the code whose syntax is broken, the function there.
    assert server_in_process.actions("m.py", 0, diagnostics=[ours])[0].title == "Refine until tests pass: double"


def test_conventions_of_the_project_count(tmp_path, monkeypatch):
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_functions = check_\npython_classes = *Spec\n")
    text = "class SizeSpec:\n    def check_one(self):\n        pass\n"
    server_in_process = InProcessServer(tmp_path, {"test_m.py": text}, FULL, monkeypatch)
    assert server_in_process.actions("test_m.py", 1)[0].title == "Refine until tests pass: check_one"
    for row in (0, 1):
        found = [each.command for each in server_in_process.actions("test_m.py", row, ["refactor"])]
        (everything,) = [each.arguments for each in found if each.command == "greenloop.refineAll"]
        assert everything == [{"uri": server_in_process.uri("test_m.py"), "target": "test_m.py::SizeSpec"}]


def test_a_command_at_a_position_means_the_run_of_what_stands_there(tmp_path, monkeypatch):
    server_in_process = InProcessServer(tmp_path, FILES, FULL, monkeypatch)
    one, other = server_in_process.run(), server_in_process.run("test_m.py::TestMany::test_one", "Box.size")

    def meant_at(name, row):
        argument = {"uri": server_in_process.uri(name), "position": {"line": row, "character": 0}}
        is_meant = run_filter(
            server_in_process.server.parts.documents, server_in_process.server.parts.runs, (argument,)
        )
        return [run for run in (one, other) if is_meant(run)]

    assert meant_at("test_m.py", 12) == [one]
    assert meant_at("test_m.py", 28) == [other]
    assert meant_at("m.py", 1) == [one]
    assert meant_at("m.py", 6) == [other]
    # Nothing is known of what stands there: the document is meant.
    assert meant_at("test_m.py", 3) == [one, other]
