"""Other tests of the file that fail for the same cause, and those that only look alike."""

from __future__ import annotations

import pytest

from greenloop.localize.findings import same_cause
from greenloop_sandbox import CaseResult, Failure, Frame


def failed(case, *frames, kind="ValueError", message="no", outcome="failed"):
    places = tuple(Frame(path=path, line=line, function=function) for path, line, function in frames)
    return CaseResult(id=case, outcome=outcome, failure=Failure(type=kind, message=message, frames=places))


def is_test(path):
    return path.startswith("tests/")


IN_CODE = failed("tests/t.py::a", ("tests/t.py", 3, "a"), ("m.py", 7, "f"))
IN_TEST = failed("tests/t.py::a[1]", ("tests/t.py", 3, "a"), kind="AssertionError", message="assert 1 == 2\n - 1\n + 2")
IN_HELPER = failed(
    "tests/t.py::a", ("tests/t.py", 3, "a"), ("tests/h.py", 9, "check"), kind="AssertionError", message="x\n- 1\n+ 2"
)


@pytest.mark.parametrize(
    ("target", "other", "same"),
    [
        (IN_CODE, failed("tests/t.py::b", ("tests/t.py", 5, "b"), ("m.py", 7, "f")), True),
        (IN_CODE, failed("tests/t.py::b", ("m.py", 7, "f"), ("/usr/lib/x.py", 5, "g")), True),
        (IN_CODE, failed("tests/t.py::b", ("m.py", 7, "f"), message="other"), True),
        (IN_CODE, failed("tests/t.py::b", ("m.py", 8, "f")), False),
        (IN_CODE, failed("tests/t.py::b", ("m.py", 7, "f"), kind="KeyError"), False),
        (IN_CODE, failed("tests/t.py::b", ("m.py", 7, "f"), outcome="passed"), False),
        (IN_CODE, CaseResult(id="tests/t.py::b", outcome="failed"), False),
        (IN_CODE, failed("tests/t.py::b"), False),
        (IN_TEST, failed("tests/t.py::a[2]", ("tests/t.py", 3, "a"), kind="AssertionError", message="other"), True),
        (IN_TEST, failed("tests/t.py::b", ("tests/t.py", 3, "b"), kind="AssertionError"), False),
        (
            IN_HELPER,
            failed("tests/t.py::b", ("tests/h.py", 9, "check"), kind="AssertionError", message="y\n- 1\n+ 2"),
            True,
        ),
        (
            IN_HELPER,
            failed("tests/t.py::b", ("tests/h.py", 9, "check"), kind="AssertionError", message="x\n- 1\n+ 3"),
            False,
        ),
    ],
)
def test_the_same_cause(target, other, same):
    assert same_cause([target], [other], is_test) == ([other] if same else [])


def test_a_target_that_passes_has_no_siblings():
    passed = failed("tests/t.py::a", ("m.py", 7, "f"), outcome="passed")
    assert same_cause([passed], [IN_CODE], is_test) == []
