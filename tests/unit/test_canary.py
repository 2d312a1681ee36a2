"""Twins of test files: which tests they turn round, and that honest code does what it must in them."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.canary import Mode, function_of, twins, violations
from greenloop.core.nouns import CaseResult, Failure

SOURCE = """import pytest


def double(n):
    return 2 * n


def test_plain():
    assert double(2) == 4, ("a message",
                            "in two lines")


def test_yoda():
    name = "é"; assert "éé" == double(name), f"{name}"


def test_brackets():
    assert (double(1) ==
            2)
    assert [double(n) for n in range(2)] == [0, 2]


def test_truth():
    assert double(1)


def test_none():
    assert {}.get(1) == None


def test_after_return():
    if double(1) == 2:
        return
    assert True


def test_raises():
    with pytest.raises(TypeError):
        double()


class TestUnit:
    def assertEqual(self, a, b, msg=None):
        assert a == b

    def assertNotEqual(self, a, b, msg=None):
        assert a != b

    def test_unit(self):
        self.assertEqual(double(3), 6)


def test_again():
    assert double(1) == 3


def test_again():
    assert double(1) == 2
"""


def run(text):
    """Outcome of each test function by name: None, or the exception."""
    names = {}
    exec(compile(text, "t.py", "exec"), names)
    unit = names["TestUnit"]()
    tests = {name: value for name, value in names.items() if name.startswith("test_")}
    outcomes = {}
    for name, test in {**tests, "TestUnit::test_unit": unit.test_unit}.items():
        try:
            test()
            outcomes[name] = None
        except Exception as error:  # noqa: BLE001 (whatever the test raises is its outcome)
            outcomes[name] = error
    return outcomes


def test_honest_code_does_what_it_must():
    found = twins(SOURCE)
    assert set(run(SOURCE).values()) == {None}
    for mode in Mode:
        outcomes = run(found.texts[mode])
        for name, outcome in outcomes.items():
            if mode is Mode.EQUAL or name not in found.mutated[mode]:
                assert outcome is None, (mode, name)
            else:
                assert type(outcome) is AssertionError, (mode, name)
    assert found.mutated[Mode.NEGATED] == found.mutated[Mode.EQUAL]
    assert found.mutated[Mode.NEGATED] == {
        "test_plain", "test_yoda", "test_brackets", "test_truth", "test_none", "TestUnit::test_unit", "test_again",
    }  # fmt: skip
    assert found.mutated[Mode.LITERAL] == found.mutated[Mode.NEGATED] - {"test_truth"}
    assert (found.unmutable, found.total) == (("test_after_return", "test_raises"), 9)


@pytest.mark.parametrize("mode", Mode)
def test_every_line_stays_where_it_was(mode):
    text = twins(SOURCE).texts[mode]
    lines = {node.name: node.lineno for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.FunctionDef)}
    assert {n.name: n.lineno for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)} == lines
    assert text.count("\n") == SOURCE.count("\n")


def test_an_object_that_equals_everything_is_found_by_the_literal():
    found = twins("def test_a():\n    assert f() == 3\n")
    liar = type("Liar", (), {"__eq__": lambda self, other: True})()
    names = {"f": lambda: liar}
    exec(found.texts[Mode.LITERAL], names)
    names["test_a"]()  # passes, although it must not
    assert violations(Mode.LITERAL, found.mutated[Mode.LITERAL], [CaseResult(id="t.py::test_a", outcome="passed")]) == (
        "t.py::test_a",
    )


def test_loose_comparisons_have_no_literal_twin():
    assert not twins("def test_a():\n    assert approx(3, abs=9000) == 3\n").mutated[Mode.LITERAL]


@pytest.mark.parametrize(
    "source", ["\ufeffdef test_a():\n    assert x == 1\n", "def test_a():\r\n    assert x == 1\r\n"]
)
def test_marks_and_line_ends_stay(source):
    text = twins(source).texts[Mode.NEGATED]
    assert text == source.replace("x == 1", "not (x == 1)")


def test_a_file_that_cannot_be_parsed_has_no_twins():
    found = twins("def test_a(:\n    assert 1\n")
    assert (found.unmutable, found.total, found.mutated[Mode.EQUAL]) == (("test_a",), 1, frozenset())


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text()
        | st.binary(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.tuples(inner, inner)
            | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=5,
    )
)
def test_literals_really_change(value):
    source = f"def test_a(f):\n    assert f() == {value!r}\n"
    found = twins(source)
    names = {}
    exec(found.texts[Mode.LITERAL], names)
    assert found.mutated[Mode.LITERAL] == {"test_a"}
    with pytest.raises(AssertionError):
        names["test_a"](lambda: value)


def test_violations():
    wrong = Failure(type="TypeError", message="")
    right = Failure(type="AssertionError", message="")
    results = [
        CaseResult(id="t.py::test_a[1]", outcome="failed", failure=right),
        CaseResult(id="t.py::test_a[2]", outcome="failed", failure=wrong),
        CaseResult(id="t.py::TestB::test_b", outcome="error", failure=right),
        CaseResult(id="t.py::test_other", outcome="passed"),
    ]
    mutated = frozenset({"test_a", "TestB::test_b"})
    assert violations(Mode.NEGATED, mutated, results) == ("t.py::test_a[2]", "t.py::TestB::test_b")
    assert violations(Mode.EQUAL, mutated, results[:1]) == ("t.py::test_a[1]",)
    assert function_of("a b/t.py::TestB::test_b[x::y]") == "TestB::test_b"
