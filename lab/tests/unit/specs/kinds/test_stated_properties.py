"""Stated properties: the request to the model, and the parsed answer."""

import pytest

from function_headers import find_region, read_header
from greenloop_lab.specs.kinds import stated_properties
from greenloop_lab.specs.kinds.stated_properties import parse_properties

SORT = '''def sort(xs: list[int]) -> list[int]:
    """Sort the numbers.

    >>> sort([2, 1])
    [1, 2]
    """
    return secret(xs)
'''


def test_the_model_sees_signature_and_docstring_and_no_body():
    text = "\n".join(message.content for message in stated_properties.question(read_header(SORT, "sort")).messages)
    assert "def sort(xs: list[int]) -> list[int]:" in text
    assert "Sort the numbers." in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("line", "expression"),
    [
        ("sorted: result == sorted(xs)", "result == sorted(xs)"),
        ("1. **Same length**: `len(result) == len(xs)`", "len(result) == len(xs)"),
        ("- idempotent: f(result) == result", "sort(result) == result"),
        ("assert all(x in xs for x in result)", "all((x in xs for x in result))"),
        ("permutation: assert Counter(result) == Counter(xs)", "Counter(result) == Counter(xs)"),
    ],
)
def test_properties_are_read_from_what_small_models_write(line, expression):
    assert [claim.expression for claim in parse_properties(line, "sort", ("xs",))] == [expression]


@pytest.mark.parametrize(
    "line",
    [
        "Here are the properties:",
        "fixed: sort([2, 1]) == [1, 2]",
        "says nothing: result == sort(xs)",
        "about nothing: len(xs) >= 0",
        "writes: xs.append(1) or result == xs",
        "reads: open('x').read() == result",
        "unknown: helper(result) == xs",
        "hidden: result.__class__ == list",
        "broken: len(result) == ",
        "binds: (y := result) == xs",
        "no claim: result",
    ],
)
def test_lines_that_are_no_properties_are_dropped(line):
    assert parse_properties(line, "sort", ("xs",)) == ()


def test_equal_properties_count_once_and_there_are_four_at_most():
    answer = "\n".join(f"p{number}: len(result) >= {number % 6} - 9" for number in range(20))
    assert len(parse_properties(answer, "sort", ("xs",))) == 4


def test_a_stated_property_becomes_a_test_along_with_the_common_ones():
    spec = stated_properties.build_spec(find_region(SORT, "sort"), SORT, "m", "length: len(result) == len(xs)")
    sources = [case.source for case in spec.cases]
    assert sources[-1] == "length: len(result) == len(xs)"
    assert sources[0].startswith("permutation: ")
