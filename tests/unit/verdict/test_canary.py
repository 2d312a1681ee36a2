"""Twins of test files: which tests they turn round, and that honest code does what it must in them."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.records.verdict import CaseResult, Failure
from greenloop.verdict.canary import Mode, confirmed_cases, find_violations, function_of, make_canaries

SOURCE = """import io
import unittest.mock
import warnings

import pytest
from pytest import raises


def double(n):
    return 2 * n


def refuse(n):
    raise KeyError(n)


@pytest.mark.filterwarnings("error")
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


def test_in_a_file():
    with io.StringIO("x"), warnings.catch_warnings():
        pass
    with warnings.catch_warnings():
        assert double(1) == 2


def test_finally():
    try:
        assert double(1) == 2
    finally:
        double(2)


def test_finally_swallows():
    for _ in range(1):
        pass
    try:
        assert double(1) == 2
    finally:
        return


def test_swallowed():
    with pytest.raises(ZeroDivisionError):
        1 / 0
        assert double(1) == 3
    with unittest.mock.patch.object(io, "StringIO"), pytest.raises(
        ZeroDivisionError
    ) as info:
        1 / 0
    str(info.value)


def test_raises():
    with raises((TypeError, ValueError), match="positional") as info:
        double()
    assert str(info.value)


def test_raises_alone():
    with (pytest.raises(KeyError)):
        refuse(1)
    with \\
            pytest.raises(KeyError) as info:
        refuse(1)


def test_raises_called():
    info = pytest.raises(KeyError, refuse, 1)
    info.match("1")


def test_raises_skip():
    with pytest.raises(pytest.skip.Exception):
        pytest.skip("no")


def test_warns():
    with pytest.warns(UserWarning) as record:
        warnings.warn("x")
    len(record)


class TestUnit(unittest.TestCase):
    def test_unit(self):
        self.assertEqual(double(3), 6)

    def test_order(self):
        self.assertGreater({1, 2},
                           {1})

    def test_raises(self):
        with self.assertRaises(KeyError) as caught:
            refuse(1)
        print(caught.exception)

    def test_raises_regex(self):
        with self.assertRaisesRegex(KeyError, "1"):
            refuse(1)

    def test_raises_called(self):
        self.assertRaises(KeyError, refuse, 1)

    def test_raises_regex_called(self):
        self.assertRaisesRegex(KeyError, "1", refuse, n=1)

    def test_warns(self):
        with self.assertWarns(UserWarning):
            warnings.warn("x")


class TestOwn(unittest.TestCase):
    def assertIn(self, a, b):
        return None

    def test_own_meaning(self):
        self.assertIn(1, [])


def test_again():
    assert double(1) == 3


def test_again():
    assert double(1) == 2


if double(1) == 2:
    def test_conditional():
        assert double(1) == 2


def expect_failure(test):
    def run():
        with raises(ValueError):
            test()

    return run


@expect_failure
def test_decorated():
    int("x")
    assert double(1) == 3
"""

UNMUTABLE = {
    "test_after_return",
    "test_finally_swallows",
    "TestOwn::test_own_meaning",
    "test_conditional",
    "test_decorated",
}
EXPECTING = {
    "test_swallowed",
    "test_raises_alone",
    "test_raises_called",
    "test_raises_skip",
    "test_warns",
    "TestUnit::test_raises",
    "TestUnit::test_raises_regex",
    "TestUnit::test_raises_called",
    "TestUnit::test_raises_regex_called",
    "TestUnit::test_warns",
}


def run(text):
    """Outcome of each test function by name: None, or what it raised."""
    names = {}
    exec(compile(text, "t.py", "exec"), names)
    tests = {name: value for name, value in names.items() if name.startswith("test_")}
    for kind in (names["TestUnit"], names["TestOwn"]):
        for name in vars(kind):
            if name.startswith("test_"):
                tests[f"{kind.__name__}::{name}"] = getattr(kind(name), name)
    outcomes = {}
    for name, test in tests.items():
        try:
            test()
            outcomes[name] = None
        except BaseException as error:  # noqa: BLE001 (whatever the test raises is its outcome)
            outcomes[name] = error
    return outcomes


def test_honest_code_does_what_it_must():
    found = make_canaries(SOURCE)
    assert set(run(SOURCE).values()) == {None}
    for mode in Mode:
        outcomes = run(found.texts[mode])
        for name, outcome in outcomes.items():
            if mode is Mode.EQUAL or name not in found.mutated[mode]:
                assert outcome is None, (mode, name)
            else:
                assert isinstance(outcome, AssertionError | pytest.fail.Exception), (mode, name, outcome)
    assert set(found.unmutable) == UNMUTABLE
    assert found.mutated[Mode.EQUAL] == found.mutated[Mode.NEGATED] == set(run(SOURCE)) - UNMUTABLE
    assert found.mutated[Mode.NEGATED] > EXPECTING
    without_literal = {"test_truth", "test_raises_called", "test_warns", "TestUnit::test_order"}
    without_literal |= {
        f"TestUnit::{name}" for name in ("test_raises_called", "test_raises_regex_called", "test_warns")
    }
    assert found.mutated[Mode.LITERAL] == found.mutated[Mode.NEGATED] - without_literal


@pytest.mark.parametrize(
    ("statement", "raised"),
    [
        ("with self.raises(KeyError):", "an own one"),
        ("with (pytest.raises(KeyError) as info):", "in brackets"),
        ("with helper(), pytest.raises(KeyError):", "inside of what may swallow"),
        ("with pytest.raises(expected_exception=KeyError):", "by name"),
        ("with pytest.raises(*KINDS):", "starred"),
    ],
)
def test_expectations_that_are_left_alone(statement, raised):
    found = make_canaries(f"import pytest\n\n\ndef test_a(self):\n    {statement}\n        f()\n")
    assert (found.unmutable, raised) == (("test_a",), raised)


def test_an_expectation_that_swallows_everything_is_found():
    class Swallow:
        def __init__(self, *kinds, **_options):
            self.kinds = kinds

        def __enter__(self):
            return self

        def __exit__(self, kind, *_rest):
            return True

    class Raised(Swallow):
        def __exit__(self, kind, *_rest):
            assert kind is not None
            return True

    found = make_canaries("import pytest\n\n\ndef test_a():\n    with pytest.raises(KeyError):\n        1 / 0\n")
    for kind, mode in ((Swallow, Mode.NEGATED), (Raised, Mode.LITERAL)):
        names = {}
        exec(found.texts[mode], names)
        names["pytest"] = type("pytest", (), {"raises": kind})
        names["test_a"]()  # passes, although it must not


@pytest.mark.parametrize("mode", Mode)
def test_every_line_stays_where_it_was(mode):
    text = make_canaries(SOURCE).texts[mode]
    lines = {node.name: node.lineno for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.FunctionDef)}
    assert {n.name: n.lineno for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)} == lines
    assert text.count("\n") == SOURCE.count("\n")


def test_an_object_that_equals_everything_is_found_by_the_literal():
    found = make_canaries("def test_a():\n    assert f() == 3\n")
    liar = type("Liar", (), {"__eq__": lambda self, other: True})()
    names = {"f": lambda: liar}
    exec(found.texts[Mode.LITERAL], names)
    names["test_a"]()  # passes, although it must not
    assert find_violations(
        Mode.LITERAL, found.mutated[Mode.LITERAL], [CaseResult(id="t.py::test_a", outcome="passed")]
    ) == ("t.py::test_a",)


@pytest.mark.parametrize(
    ("statement", "is_changed"),
    [
        ("eq_(f(), expected)", True),
        ("testing.eq_(f(), 3)", True),
        ("pandas.testing.assert_frame_equal(f(), expected)", True),
        ("eq_(*both)", False),
        ("assert_frame_equal(f(), expected, rtol=1e9)", False),
        ("assert_array_equal(f(), expected)", False),
        ("own.assert_same(f(), expected)", False),
    ],
)
def test_known_functions_that_compare_get_another_value(statement, is_changed):
    found = make_canaries(f"def test_a(both, expected):\n    {statement}\n")
    assert found.mutated == {Mode.EQUAL: set(), Mode.NEGATED: set(), Mode.LITERAL: {"test_a"} if is_changed else set()}


def test_a_comparing_function_of_the_file_itself_may_mean_anything():
    found = make_canaries("def eq_(a, b):\n    return True\n\n\ndef test_a():\n    eq_(f(), 3)\n")
    assert found.unmutable == ("test_a",)


def test_loose_comparisons_have_no_literal_twin():
    assert not make_canaries("def test_a():\n    assert approx(3, abs=9000) == 3\n").mutated[Mode.LITERAL]


@pytest.mark.parametrize(
    "source", ["\ufeffdef test_a():\n    assert x == 1\n", "def test_a():\r\n    assert x == 1\r\n"]
)
def test_marks_and_line_ends_stay(source):
    text = make_canaries(source).texts[Mode.NEGATED]
    assert text == source.replace("x == 1", "not (x == 1)")


def test_a_file_that_cannot_be_parsed_has_no_twins():
    found = make_canaries("def test_a(:\n    assert 1\n")
    assert (found.unmutable, found.mutated[Mode.EQUAL]) == (("test_a",), frozenset())


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
    found = make_canaries(source)
    names = {}
    exec(found.texts[Mode.LITERAL], names)
    assert found.mutated[Mode.LITERAL] == {"test_a"}
    with pytest.raises(AssertionError):
        names["test_a"](lambda: value)


def test_violations():
    def case(name, outcome, kind=""):
        return CaseResult(id=f"t.py::{name}", outcome=outcome, failure=Failure(type=kind, message="") if kind else None)

    mutated = frozenset({"test_a", "TestB::test_b"})
    right = case("test_a[1]", "failed", "AssertionError")
    assert find_violations(Mode.EQUAL, mutated, [right]) == ("t.py::test_a[1]",)
    for mode in (Mode.NEGATED, Mode.LITERAL):
        assert find_violations(mode, mutated, [right, case("test_other", "passed")]) == ()
        assert find_violations(mode, mutated, [case("test_a[1]", "passed")]) == ("t.py::test_a[1]",)
        assert find_violations(mode, mutated, [right, case("TestB::test_b", "passed")]) == ("t.py::TestB::test_b",)
        # What runs after a test that broke off may be spoilt by it; what runs first may not.
        for spoilt in (case("TestB::test_b", "error", "KeyError"), case("TestB::test_b", "skipped", "Skipped")):
            assert find_violations(mode, mutated, [right, spoilt]) == ()
            assert confirmed_cases(mode, mutated, [right, spoilt]) == ("t.py::test_a[1]",)
            assert find_violations(mode, mutated, [spoilt]) == ("t.py::TestB::test_b",)
        assert find_violations(mode, mutated, [case("test_a", "failed", "Crash")]) == ("t.py::test_a",)
    assert function_of("a b/t.py::TestB::test_b[x::y]") == "TestB::test_b"
