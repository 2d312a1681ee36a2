"""Wrong values, which a test that looks at its values notices."""

from __future__ import annotations

import datetime as dt
import re

import pytest

from two_sides import apart

perturbed = apart["apart_wrong"].perturbed
PLAIN = [0, 1, -1, 1.5, True, False, "", "a", b"", b"a", None, [], [1], [[], 2], (1, "a"), {}, {"a": 1}, {1}, frozenset()]  # fmt: skip


def _name(value: object) -> str:
    """An id without an address, which every process has another of."""
    return re.sub(r" (at|id=).*", ">", repr(value))


@pytest.mark.parametrize("value", PLAIN, ids=_name)
def test_a_wrong_value_differs_and_the_right_one_stays(value):
    before = repr(value)
    for place in range(3):
        (wrong,) = perturbed(value, place)
        assert wrong != value
    assert repr(value) == before


def test_of_an_object_one_attribute_is_wrong(shop):
    item = shop.Item("tea", 2)
    (wrong,) = perturbed(item, 0)
    assert type(wrong) is shop.Item
    assert wrong != item
    assert item == shop.Item("tea", 2)


@pytest.mark.parametrize("value", [object(), len, int, dt, ()], ids=_name)
def test_what_has_no_plain_part_has_no_wrong_value(value):
    assert perturbed(value, 0) is None
