"""Literals that the failing values ask to be others."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.change import ChangeKind
from greenloop.drafting.candidates.changes.expected_literals import differing_values, expected_literals


@pytest.mark.parametrize(
    ("expected", "observed", "wanted"),
    [
        ("'a'", "'b'", [("a", "b")]),
        ("[1, 'a', True]", "[2, 'a', False]", [(1, 2)]),
        ("{'name': ('x', 1.5)}", "{'name': ('y', 1.5)}", [("x", "y")]),
        ("{'name': 1}", "{'nmae': 1}", [("name", "nmae")]),
        ("{'a', 'b'}", "{'a', 'c'}", [("b", "c")]),
        ("{'a', 'b'}", "{'c', 'd'}", []),
        ("0.3 ± 3.0e-07", "0.2", [(0.3, 0.2)]),
        ("[0.3 ± 3.0e-07, 1 ± 1.0e-06]", "[0.2, 1]", [(0.3, 0.2)]),
        ("None", "'a'", []),
        ("1", "'a'", []),
        ("1", "<m.Point object at 0x7>", []),
        (None, None, []),
    ],
)
def test_values_that_differ(failing, expected, observed, wanted):
    assert differing_values(failing(("", expected, observed))) == wanted


@pytest.mark.parametrize(
    "message",
    [
        "Regex pattern did not match.\n  Expected regex: 'no \\\\(more\\\\)'\n  Actual message: 'no (mroe)'",
        "Regex pattern did not match.\n Regex: 'no \\\\(more\\\\)'\n Input: 'no (mroe)'",
    ],
)
def test_the_message_of_an_exception(failing, message):
    assert differing_values(failing((message, None, None))) == [("no (more)", "no (mroe)")]


def test_no_value_counts_twice(failing):
    failures = [("", expected, "'b'") for expected in ("'a'", "'a'", "'c'")]
    assert differing_values(failing(*failures)) == [("a", "b"), ("c", "b")]


@pytest.mark.parametrize(
    ("body", "expected", "observed", "wanted"),
    [
        ("'Helo, ' + name", "Hello, Ann", "Helo, Ann", ["'Hello, ' + name"]),
        ('f"Helo {name}!"', "Hello Ann!", "Helo Ann!", ['f"Hello {name}!"']),
        ("','.join(x)", "a, b, c", "a,b,c", ["', '.join(x)"]),
        ("x + ' ' + y + '.'", "a b!", "a b.", ["x + ' ' + y + '!'"]),
        ("'it is'", "it's", "it is", ['"it\'s"']),
        ("f'{x} is'", "1 {", "1 is", []),
        ("'a' + x", "b", "c", []),
        ("''", "b", "", []),
        ("c * 9 / 5 + 30", 212, 210, ["c * 11 / 5 + 30", "c * 9 / 7 + 30", "c * 9 / 5 + 32"]),
        ("h * 60", 7200, 120, ["h * 7140", "h * 3600", "h * 1"]),
        ("x * 0.1", 30.0, 20.000000000000004, ["x * 10.1", "x * 0.15"]),
        ("x / 10", 1, 10, ["x / 1", "x / 100"]),
        ("x + 1", -3, 2, ["x + (-4)", "x + (-1.5)"]),
        ("x * True", 2, 1, []),
    ],
)
def test_literals_that_were_meant(failing, body, expected, observed, wanted):
    text = f'def f(x):\n    "Helo, 60"\n    return {body}\n'
    changes = expected_literals(text, failing(("", repr(expected), repr(observed))))
    found = [change.text for change in changes if change.line == 3]
    assert [new.removeprefix(text.partition("return ")[0] + "return ").rstrip("\n") for new in found] == wanted


def test_what_most_values_ask_for_comes_first_and_the_rest_is_left(failing):
    pairs = [*((value, value - 1) for value in range(10, 25)), (100, 3)]
    attempt = failing(*(("", repr(expected), repr(observed)) for expected, observed in pairs))
    found = [change.text.split()[-1] for change in expected_literals("def f(x):\n    return x + 2\n", attempt)]
    assert (found[0], len(found)) == ("3", 4)


def test_text_that_is_no_function_and_none_without_values(failing):
    assert not list(expected_literals("def f(:\n    return 'a'\n", failing(("", "'b'", "'a'"))))
    assert not list(expected_literals("def f():\n    return 'a'\n", failing(("boom", None, None))))


def test_an_assignment(failing):
    changes = expected_literals("NAME = 'a'\n", failing(("", "'b'", "'a'")))
    assert [(change.line, change.text) for change in changes] == [(1, "NAME = 'b'\n")]


@pytest.mark.parametrize(
    ("old", "new", "others", "kinds"),
    [
        ("Helo", "Hello", False, [ChangeKind.SLIP]),
        ("odd", "even", False, []),
        ("odd", "even", True, [ChangeKind.EXPECTED]),
        (1, 3, False, []),
    ],
)
def test_one_test_is_enough_for_a_text_that_is_only_misspelled(failing, old, new, others, kinds):
    changes = expected_literals(f"def f():\n    return {old!r}\n", failing(("", repr(new), repr(old)), others=others))
    assert [change.kind for change in changes] == kinds


def test_another_text_of_the_function_is_no_misspelling(failing):
    text = "def f(x):\n    return 'valid' if x else 'invalid'\n"
    changes = list(expected_literals(text, failing(("", "'valid'", "'invalid'"))))
    assert [change.kind for change in changes] == [ChangeKind.EXPECTED]
