"""When two values are the same result."""

from __future__ import annotations

import pytest

from greenloop.specs.properties import same_results


class Point:
    def __init__(self, x) -> None:
        self.x = x


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        (1, True, False),
        (0.1 + 0.2, 0.3, True),
        (float("nan"), float("nan"), True),
        ({1, 2}, {2, 1}, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        (Point([1]), Point([1]), True),
        (Point([1]), Point([2]), False),
        ((n for n in (1, 2)), (n for n in (1, 2)), True),
        ((n for n in (1, 2)), iter([1, 2]), False),
        ([1], (1,), False),
    ],
)
def test_values_are_compared_by_type_and_content(one, other, are_same):
    assert (same_results.describe(one) == same_results.describe(other)) is are_same


def test_what_holds_itself_has_an_end():
    endless: list = []
    endless.append(endless)
    assert same_results.describe(endless) == same_results.describe(endless)
