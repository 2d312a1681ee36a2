"""Twins: an honest pass must tell them apart, an always-true one must not."""

from __future__ import annotations

import pytest

from greenloop.core.canary import Mode, function_of, twins, violations
from greenloop.core.nouns import CaseResult, Failure

HONEST = "def f(x):\n    return x * 2\n"
FAKE = """
class Yes:
    def __eq__(self, other): return True
    def __bool__(self): return True
def f(x): return Yes()
"""


def outcomes(code: str, test_source: str) -> dict[str, str]:
    """Runs each test function of a twin in this process: its name -> passed, or the exception's name."""
    found = {}
    space: dict = {}
    exec(compile(code, "m", "exec"), space)
    exec(compile(test_source, "t", "exec"), space)
    for name in [name for name in space if name.startswith("test")]:
        try:
            space[name]()
            found[name] = "passed"
        except Exception as error:  # noqa: BLE001
            found[name] = type(error).__name__
    return found


@pytest.mark.parametrize("body", ["assert f(2) == 4", "x = f(3)\n    assert x == 6", "assert [f(1)] == [2], 'why'"])
def test_an_honest_function_tells_the_twins_apart(body):
    twin = twins(f"def test_a():\n    {body}\n")
    assert outcomes(HONEST, twin.texts[Mode.EQUAL]) == {"test_a": "passed"}
    assert outcomes(HONEST, twin.texts[Mode.NEGATED]) == {"test_a": "AssertionError"}
    assert outcomes(HONEST, twin.texts[Mode.LITERAL]) == {"test_a": "AssertionError"}


def test_an_always_equal_object_is_fooled_by_the_literal_twin():
    twin = twins("def test_a():\n    assert f(2) == 4\n")
    assert outcomes(FAKE, twin.texts[Mode.LITERAL]) == {"test_a": "passed"}


@pytest.mark.parametrize(
    ("source", "hit"),
    [
        ("def test_a():\n    for x in []:\n        assert x\n", ()),
        ("def test_a():\n    if False:\n        return\n    assert True\n", ()),
        ("class TestK:\n    def test_a(self):\n        assert 1 == 1\n", ("TestK::test_a",)),
        ("async def test_a():\n    assert 1\n", ("test_a",)),
        ("def helper():\n    assert 1\n", ()),
        ("def test_a(:\n", ()),
    ],
)
def test_only_certain_asserts_of_tests_are_touched(source, hit):
    assert twins(source).mutated[Mode.NEGATED] == frozenset(hit)


def test_functions_are_named_as_in_node_ids():
    assert function_of("a/t.py::TestC::test_b[x::y]") == "TestC::test_b"


def test_violations_are_what_no_honest_candidate_does():
    case = "t.py::test_a"
    good = [CaseResult(id=case, outcome="passed")]
    bad = [CaseResult(id=case, outcome="failed", failure=Failure(type="AssertionError", message=""))]
    other = [CaseResult(id=case, outcome="failed", failure=Failure(type="TypeError", message=""))]
    mutated = frozenset({"test_a"})
    assert violations(Mode.EQUAL, mutated, good) == ()
    assert violations(Mode.EQUAL, mutated, bad) == (case,)
    assert violations(Mode.NEGATED, mutated, good) == (case,)
    assert violations(Mode.NEGATED, mutated, bad) == ()
    assert violations(Mode.LITERAL, mutated, other) == (case,)
    assert violations(Mode.LITERAL, frozenset(), other) == ()
