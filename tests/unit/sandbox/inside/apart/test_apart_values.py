"""Values that are copied arrive as they are, in both directions."""

from __future__ import annotations

import collections
import copy
import datetime as dt
import decimal
import fractions
import io
import math
import pathlib
import re
import uuid
import zoneinfo

import pytest

from two_sides import conversation

UTC = dt.timezone.utc  # noqa: UP017 - a constant of the codec
VALUES = [
    None, True, 1, 10**30, -(2**53), 1.5, math.inf, "", "\u00e4\ud800\n", b"\x00\xff", 1 + 2j, ..., NotImplemented,
    (), (1, [2, {"a": (3,)}]), [], [[]], {}, {(1, "x"): [None]}, {1, 2}, frozenset({1, (2,)}), bytearray(b"xy"),
    range(1, 9, 2), slice(1, None),
    dt.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=UTC, fold=1), dt.date(2024, 2, 29), dt.time(1, 2, 3),
    dt.datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo("UTC")), dt.timedelta(1, 2, 3),
    dt.timezone(dt.timedelta(hours=2), "CEST"),
    decimal.Decimal("1.10"), fractions.Fraction(1, 3), uuid.UUID(int=5), pathlib.PurePosixPath("/a/b"), re.compile("a+", re.IGNORECASE),
    collections.deque([1, [2]], maxlen=3), collections.OrderedDict(b=1, a=2), collections.Counter("aab"),
]  # fmt: skip


def crossed(value):
    """What the code has got, and what comes back of a copy that it makes."""
    got = []

    def again(given):
        got.append(given)
        return copy.deepcopy(given)

    with conversation(again=again) as judge:
        back = judge.ask("again", value)
    return got[0], back


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_arrives_as_what_it_is_in_both_directions(value):
    for found in crossed(value):
        assert type(found) is type(value)
        assert found == value
        assert repr(found) == repr(value)


def test_what_equals_nothing_arrives_too():
    assert all(math.isnan(found) for found in crossed(math.nan))


@pytest.mark.parametrize(
    "make",
    [
        lambda shop: shop.Color.BLUE,
        lambda shop: shop.Mode.READ | shop.Mode.WRITE,
        lambda shop: shop.Item("tea", [decimal.Decimal(2)]),
        lambda shop: shop.Point(1, [2]),
        lambda shop: collections.defaultdict(int, a=1),
    ],
    ids=["enum", "flag", "dataclass", "named tuple", "defaultdict"],
)
def test_instances_of_the_users_own_classes_are_rebuilt(shop, make):
    value = make(shop)
    for found in crossed(value):
        assert type(found) is type(value)
        assert found == value


def test_a_member_of_an_enumeration_is_the_same_one(shop):
    assert [found is shop.Color.RED for found in crossed(shop.Color.RED)] == [True, True]


def test_slots_attributes_and_the_content_of_a_built_in_base_arrive(shop):
    slotted, basket = shop.Slotted(), shop.Basket([1, 2])
    slotted.a, basket.owner = [1], slotted
    for found in crossed(basket):
        assert (type(found), list(found)) == (shop.Basket, [1, 2])
        assert (type(found.owner), found.owner.a, hasattr(found.owner, "b")) == (shop.Slotted, [1], False)


def test_streams_keep_their_place():
    stream = io.StringIO("abc")
    stream.read(1)
    got = []
    with conversation(read=lambda given: got.append(given.read())) as judge:
        judge.ask("read", stream)
    assert (got, stream.read()) == (["bc"], "")


def test_functions_and_classes_of_the_project_cross_by_name(shop):
    for found in crossed((shop.helper, shop.Item, len, dict)):
        assert found == (shop.helper, shop.Item, len, dict)
