"""Properties: what the model is asked, what is read of its answer, which values are made up."""

import ast

import pytest

from function_headers import find_region, read_header
from greenloop.core.records.spec import Provenance
from greenloop.specs.kinds import properties
from greenloop.specs.properties.stated_properties import parse_properties

SORT = '''def sort(xs: list[int]) -> list[int]:
    """Sort the numbers.

    >>> sort([2, 1])
    [1, 2]
    """
    return secret(xs)
'''


def test_the_model_sees_signature_and_docstring_and_no_body():
    text = "\n".join(message.content for message in properties.question(read_header(SORT, "sort")).messages)
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


def test_a_property_becomes_a_test_with_values_and_a_message_that_names_it():
    spec = properties.build_spec(find_region(SORT, "sort"), SORT, "m", "length: len(result) == len(xs)")
    (text,) = spec.files.values()
    ast.parse(text)
    assert "given(xs=st.lists(st.integers(0, 1000), max_size=8))" in text
    assert "`length` does not hold: sort(xs={xs!r}) gave {result!r}" in text
    assert all(case.provenance is Provenance.PROPERTY and not case.binding for case in spec.cases)


def test_an_answer_without_properties_is_a_doubt():
    text = 'def f(n):\n    """Frobnicate the number."""\n'
    spec = properties.build_spec(find_region(text, "f"), text, "m", "I am sorry, I cannot do that.")
    assert spec.cases == ()
    assert spec.doubts == ("No property of `f` is known, and the model's answer names none.",)


def test_a_parameter_for_which_there_are_no_values_is_a_doubt():
    text = 'def f(conn, query: str):\n    """Fetch rows."""\n'
    spec = properties.build_spec(find_region(text, "f"), text, "m", "p: len(result) >= 0")
    assert spec.doubts == ("No values can be made up for `conn`, so no properties are tried.",)
