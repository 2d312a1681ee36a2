"""Equations in plain text: what is surely meant as one, and what is left alone."""

from __future__ import annotations

import pytest

from greenloop.plugins.stated_examples.equations import DocumentedFunction, find_equations

F = DocumentedFunction(name="f", exceptions=frozenset({"EmptyInput"}))


def read(text: str, subject: DocumentedFunction = F) -> list[str]:
    return [
        f"{stated.call} {'raises ' + stated.raises if stated.raises else '== ' + stated.expected}"
        for stated in find_equations(text.split("\n"), subject)
    ]


MEANT = {
    "f(2) returns 4": ["f(2) == 4"],
    "f(2) returns 4.": ["f(2) == 4"],
    "f([1, 2]) -> 3": ["f([1, 2]) == 3"],
    "f(2) == 4": ["f(2) == 4"],
    "f(2) = 4": ["f(2) == 4"],
    "f(2)=4": ["f(2) == 4"],
    "f(\"a\") => 'b'": ["f('a') == 'b'"],
    "Example: f(3) = 9": ["f(3) == 9"],
    "Examples:\n    f(3) = 9\n    f(4) = 16": ["f(3) == 9", "f(4) == 16"],
    "- `f(2)` returns `4`\n- ``f(3)`` returns ``9``": ["f(2) == 4", "f(3) == 9"],
    "f(2)  # -> 4": ["f(2) == 4"],
    "f(2)  # => [4, 5]": ["f(2) == [4, 5]"],
    "f(2)  # returns 4": ["f(2) == 4"],
    "f(2) should return 4": ["f(2) == 4"],
    "For example, f(2) is 4 and f(3) is 9.": ["f(2) == 4", "f(3) == 9"],
    "e.g. f(2) is 4": ["f(2) == 4"],
    "Squares a number, so f(2) is 4.": ["f(2) == 4"],
    "Squares a number (f(2) == 4).": ["f(2) == 4"],
    "Squares a number; f(2) == 4, f(3) == 9": ["f(2) == 4", "f(3) == 9"],
    "f([]) returns an empty list.": ["f([]) == []"],
    "f([]) is None": ["f([]) == None"],
    "f({'a': [1]}, b=(2,)) == {'a': 1}": ["f({'a': [1]}, b=(2,)) == {'a': 1}"],
    "f(f(2)) == 16": ["f(f(2)) == 16"],
    "f('a, b (c') returns 'x. y'": ["f('a, b (c') == 'x. y'"],
    "f(-1) raises ValueError": ["f(-1) raises ValueError"],
    "`f(-1)` raises a `ValueError`.": ["f(-1) raises ValueError"],
    "f([]) raises EmptyInput.": ["f([]) raises EmptyInput"],
    "f([]) raises :class:`ValueError`": ["f([]) raises ValueError"],
    "f(-1) -> ValueError": ["f(-1) raises ValueError"],
    "f(1/3) == Fraction(1, 3)": ["f(1 / 3) == Fraction(1, 3)"],
    "f(set()) == set()": ["f(set()) == set()"],
    "f(1) == float('inf')": ["f(1) == float('inf')"],
    "f(2) returns 4, not 5.": ["f(2) == 4"],
    "f(2) == 4 (since 2 * 2 is 4)": ["f(2) == 4"],
    "f(2) returns 4 because 2 * 2 is 4": ["f(2) == 4"],
    "f(2) returns the list [1, 2].": ["f(2) == [1, 2]"],
    "f(\n    [1, 2],\n) == 3": ["f([1, 2]) == 3"],
    "# TODO: f(2) == 4": ["f(2) == 4"],
    "1. f(2) -> 4\n2. f(3) -> 9": ["f(2) == 4", "f(3) == 9"],
    "f(2) \u2192 4": ["f(2) == 4"],
    "f('\u00e4\u00f6') == '\u00f6\u00e4'": ["f('\u00e4\u00f6') == '\u00f6\u00e4'"],
    "f(0.1) == 0.33": ["f(0.1) == 0.33"],
    "It adds.\nf(1) -> 2": ["f(1) == 2"],
    "f(True) returns False": ["f(True) == False"],
}
ALONE = [
    "f(x) returns 4",
    "f(n) = n * 2",
    "f() -> None",
    "f(a=1) -> None",
    "f(x) -> int",
    "f(2) -> int",
    "f(2) returns a number",
    "f(2) returns 4 elements",
    "f(2) is 4 times faster",
    "f(2) is 4\ntimes faster",
    "f(2) returns 4 if strict is set",
    "f(2) returns 4, 5",
    "f(2) returns 4 or 5",
    "f(2) returns 4 unless told otherwise",
    "f(2) returns 4 in strict mode",
    "f(2) returns about 4",
    "f(2) does not return 4",
    "f(2) is not 4",
    "If strict, f(2) == 4",
    "When called twice, f(2) returns 4.",
    "With strict=True:\n    f(2) == 4",
    "Wrong:\n    f(2) == 4",
    "Wrong::\n\n    f(2) == 4\n    f(3) == 9",
    "It is wrong that f(2) == 4",
    "f(2) == 4 is wrong",
    "f(2) used to return 4",
    "f(2) == 4 was a bug",
    "Instead of f(2) == 4",
    "The sum of f(1) and f(2) is 5",
    "the sum of f(1), f(2), f(3) is 6",
    "The length of f(2) is 4",
    "len(f(2)) is 4",
    "1 + f(2) == 4",
    "not f(2) == 4",
    "f(2) == 4 == 2 ** 2",
    "f(2) == 4 + x",
    "f(2) = 4 = 2 * 2",
    "f(2) < 4",
    "f(2) != 4",
    "f(2) >= 4",
    "f(2) returns [1, 2, ...]",
    "f(2) returns [1, 2",
    "f(*args) == 4",
    "f(**options) == 4",
    "f(2)[0] == 4",
    "g.f(2) == 4",
    "gf(2) == 4",
    "f(2) raises ValueError if strict",
    "f(2) raises SomeError",
    "f(2) returns 0.333...",
    "f(2) returns 1..9",
    "f(2) == 4 in Python 2",
    "f(2) raises the bar",
    ".. versionchanged:: 2\n    f(2) == 4",
    "f(9) returns 10 ** 10 ** 10",
    "Before, f(2) returned 4.",
    "f(2) yields 4",
    "Takes f(2) seconds = 4",
    "f(2), f(3) = 4, 9",
    "x = f(2)  # -> 4",
    "f(2) returns 'even'|'odd'",
    "f(2) == 4 % 3 == 1",
    "f(2) is [int]",
    "f(2): 4",
    "f 2 is 4",
    "f(2)",
    "f(lambda x: x) == 4",
    "In f(2) is 4 a constant?",
]


@pytest.mark.parametrize("text", MEANT)
def test_an_equation_is_found(text):
    assert read(text) == MEANT[text]


@pytest.mark.parametrize("text", ALONE)
def test_what_is_not_surely_an_equation_is_left_alone(text):
    assert read(text) == []
