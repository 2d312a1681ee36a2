import pytest

from greenloop.core.classify import classify, failure_signature, finding_group, is_of_workspace
from greenloop.core.records.attempt import Finding
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop_sandbox import CaseResult, Failure, Frame


def failing(kind, message="", frames=(), name="test_m.py::test", **fields):
    frames = tuple(Frame(path=path, line=line, function=function) for path, line, function in frames)
    return CaseResult(id=name, outcome="failed", failure=Failure(type=kind, message=message, frames=frames, **fields))


PASSING = CaseResult(id="test_m.py::other", outcome="passed")


@pytest.mark.parametrize(
    ("status", "cases", "expected"),
    [
        (Status.PASSED, [PASSING], ("", None)),
        (Status.FAILED, [failing("AssertionError")], ("AssertionError", ErrorGroup.LOGIC)),
        (Status.FAILED, [failing("builtins.IndexError", frames=[("test_m.py", 3, "test"), ("m.py", 7, "f")])], ("IndexError", ErrorGroup.RUNTIME)),
        (Status.FAILED, [failing("KeyError", frames=[("m.py", 7, "f"), ("/usr/lib/x.py", 1, "g")])], ("KeyError", ErrorGroup.RUNTIME)),
        (Status.FAILED, [failing("AssertionError"), failing("TypeError")], ("TypeError", ErrorGroup.RUNTIME)),
        (Status.FAILED, [failing("TypeError"), failing("IndentationError")], ("IndentationError", ErrorGroup.SYNTAX)),
        (Status.FAILED, [failing("doctest.DocTestFailure")], ("DocTestFailure", ErrorGroup.LOGIC)),
        (Status.FAILED, [failing("doctest.UnexpectedException", "ZeroDivisionError('x')")], ("ZeroDivisionError", ErrorGroup.RUNTIME)),
        (Status.FAILED, [failing("Failed", "DID NOT RAISE <class 'ValueError'>")], ("Failed", ErrorGroup.LOGIC)),
        (Status.FAILED, [failing("Failed", "Timeout (>1.0s) from pytest-timeout.")], ("Timeout", ErrorGroup.TIMEOUT)),
        (Status.FAILED, [failing("MemoryError")], ("MemoryError", ErrorGroup.RESOURCE)),
        (Status.FAILED, [failing("my.lib.CustomError")], ("CustomError", ErrorGroup.RUNTIME)),
        (Status.FAILED, [CaseResult(id="a", outcome="skipped")], ("Skipped", ErrorGroup.LOGIC)),
        (Status.TIMEOUT, [], ("Timeout", ErrorGroup.TIMEOUT)),
        (Status.CRASHED, [], ("Crashed", ErrorGroup.RUNTIME)),
        (Status.TAMPERED, [PASSING], ("Tampered", ErrorGroup.TAMPERING)),
        (Status.NOT_COLLECTED, [], ("NotCollected", ErrorGroup.RUNTIME)),
        (Status.NOT_COLLECTED, [failing("ImportError")], ("ImportError", ErrorGroup.RUNTIME)),
        (Status.ENVIRONMENT, [], ("Environment", ErrorGroup.ENVIRONMENT)),
    ],
)  # fmt: skip
def test_classify(status, cases, expected):
    assert classify(Verdict(status=status, cases=tuple(cases))) == expected


def test_a_crash_for_lack_of_memory_is_a_matter_of_resources():
    assert classify(Verdict(status=Status.CRASHED, reason="killed: memory limit"))[1] is ErrorGroup.RESOURCE


def test_newly_failing_neighbours_speak_when_the_target_passes():
    verdict = Verdict(status=Status.FAILED, cases=(PASSING,), collateral=(failing("KeyError", name="test_n.py::x"),))
    assert classify(verdict)[0] == "KeyError"


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ("<A object at 0x7f01>", "<A object at 0x7f02>", True),
        ("no /tmp/pytest-of-me/pytest-1/x0/f", "no /tmp/pytest-of-me/pytest-2/x0/f", True),
        ("took 1.25s", "took 0.31s", True),
        ("assert 3 == 4", "assert 2 == 4", False),
    ],
)
def test_a_signature_is_the_same_for_the_same_failure(a, b, equal):
    first = Verdict(status=Status.FAILED, cases=(failing("E", a, [("m.py", 3, "f")]),))
    second = Verdict(status=Status.FAILED, cases=(failing("E", b, [("m.py", 9, "f")]),))
    assert (failure_signature(first) == failure_signature(second)) is equal


def test_a_signature_tells_observed_values_and_places_apart():
    texts = {
        failure_signature(Verdict(status=Status.FAILED, cases=(case,)))
        for case in (
            failing("AssertionError", expected="3", observed="4"),
            failing("AssertionError", expected="3", observed="5"),
            failing("AssertionError", frames=[("m.py", 1, "f")]),
            failing("AssertionError", frames=[("m.py", 1, "g")]),
            failing("AssertionError", name="test_m.py::another"),
        )
    }
    assert len(texts) == 5


@pytest.mark.parametrize(
    ("error_class", "group"),
    [
        ("SyntaxError", ErrorGroup.SYNTAX),
        ("TabError", ErrorGroup.SYNTAX),
        ("UndefinedName", ErrorGroup.RUNTIME),
        ("NoCode", ErrorGroup.ANSWER),
        ("Unchanged", ErrorGroup.ANSWER),
    ],
)
def test_groups_of_findings(error_class, group):
    assert finding_group(Finding(error_class=error_class, message="x")) is group


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("m.py", True),
        ("src/pkg/m.py", True),
        ("/usr/lib/python3.11/json/__init__.py", False),
        (".venv/lib/python3.11/site-packages/numpy/testing/_private/utils.py", False),
        ("<string>", False),
        ("C:/m.py", False),
    ],
)
def test_frames_of_the_workspace(path, expected):
    assert is_of_workspace(Frame(path=path, line=1, function="f")) is expected
