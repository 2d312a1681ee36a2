"""A property as a test: drawn values, one call, a message that names both."""

from function_headers import read_header
from greenloop.plugins.function_calls.value_strategies import build_strategies
from greenloop_lab.specs.property_tests import Property, build_check

SORT = "def sort(xs: list[int]) -> list[int]: ...\n"


def check_of(expression: str):
    head = read_header(SORT, "sort")
    values, _without = build_strategies(head, SORT, "m", {})
    return build_check(
        Property(name="length", expression=expression, source="library"), head, values, "m", ("ValueError",)
    )


def test_a_property_becomes_a_test_with_values_and_a_message_that_names_it():
    check = check_of("len(result) == len(xs)")
    assert check.decorators[1] == "given(xs=st.lists(st.integers(-1000, 1000), max_size=8))"
    assert "`length` does not hold: sort(xs={xs!r}) gave {result!r}" in check.body
    compile(check.body, "check", "exec")


def test_a_property_that_needs_no_result_only_calls():
    assert "assert" not in check_of("").body
