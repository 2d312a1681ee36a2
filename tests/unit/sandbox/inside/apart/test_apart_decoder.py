"""Values between judge and code: what arrives, and what the judge does not take."""

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
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from two_sides import CannotCross, apart, conversation, receive, said, shop_module

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


def test_arrays_arrive():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(6, dtype="int16").reshape(2, 3)
    for found in crossed([array, numpy.float32(1.5), numpy.array([None, "x"], dtype=object)]):
        assert (found[0].dtype, found[0].tolist()) == (array.dtype, array.tolist())
        assert (type(found[1]), found[1]) == (numpy.float32, 1.5)
        assert found[2].tolist() == [None, "x"]


# -- identity and changes in place -----------------------------------------------------------------------------------


def test_identity_and_cycles_survive():
    ring = [1]
    ring.append(ring)
    with conversation(
        same=lambda one, other: (one is other, one[1] is one), first=lambda given: given[0], pair=lambda: [[]] * 2
    ) as judge:
        assert judge.ask("same", ring, ring) == (True, True)
        held = [ring]
        assert judge.ask("first", held) is ring
        one, other = judge.ask("pair")
        assert one is other


CHANGES = {
    "list": ([1, 2], lambda given: given.append(3), [1, 2, 3]),
    "list, in it": ([[1]], lambda given: given[0].clear(), [[]]),
    "dict": ({"a": 1}, lambda given: given.update(b=given.pop("a")), {"b": 1}),
    "set": ({1}, lambda given: given.symmetric_difference_update({1, 2}), {2}),
    "bytearray": (bytearray(b"a"), lambda given: given.extend(b"b"), bytearray(b"ab")),
    "deque": (collections.deque([1]), lambda given: given.appendleft(0), collections.deque([0, 1])),
}


@pytest.mark.parametrize(("value", "change", "wanted"), CHANGES.values(), ids=CHANGES)
def test_changes_in_place_reach_the_callers_object(value, change, wanted):
    value = copy.deepcopy(value)
    with conversation(change=change) as judge:
        judge.ask("change", value)
    assert value == wanted


def test_attributes_that_the_code_sets_are_set(shop):
    item, slotted = shop.Item("tea"), shop.Slotted()

    def change(item, slotted):
        item.price, slotted.b = [item.name], 2
        del item.name

    with conversation(change=change) as judge:
        judge.ask("change", item, slotted)
    assert (vars(item), slotted.b) == ({"price": ["tea"]}, 2)


def test_without_changes_in_place_containers_stay_and_the_judge_hears_of_it(shop):
    items, held = [1], shop.Item([1])

    def change(items, held):
        items.append(2)
        held.name.append(2)

    with conversation(applies=False, change=change) as judge:
        judge.ask("change", items, held)
        assert judge.asked_changes == 1
    assert items == [1]
    assert held.name == [1, 2]  # the state of an object is not an argument that is changed


def test_what_was_lent_to_an_earlier_call_cannot_be_changed_later():
    kept, items = [], [1]
    with conversation(keep=kept.append, change=lambda: kept[0].append(2)) as judge:
        judge.ask("keep", items)
        judge.ask("change")
    assert kept == [[1, 2]]
    assert items == [1]


# -- exceptions --------------------------------------------------------------------------------------------------------


def test_an_exception_arrives_with_its_attributes_and_its_cause(shop):
    def fail():
        try:
            int("first")
        except ValueError as error:
            raise shop.Missing("tea", [3]) from error

    with conversation(fail=fail) as judge, pytest.raises(shop.Missing) as caught:
        judge.ask("fail")
    assert (caught.value.args, caught.value.code) == (("tea",), [3])
    assert "invalid literal for int" in str(caught.value.__cause__)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, StopIteration])
def test_exceptions_that_are_no_errors_arrive_too(kind):
    def fail():
        raise kind(3)

    with conversation(fail=fail) as judge, pytest.raises(kind) as caught:
        judge.ask("fail")
    assert caught.value.args == (3,)


# -- what the judge does not take -------------------------------------------------------------------------------------

PLAIN, OTHER = ["g", "shop", "Plain"], ["g", "shop", "Item"]
REFUSED = {
    "an unknown tag": (["zz"], {}),
    "a tag that is a list": ([["s"]], {}),
    "an object": ({}, {}),
    "no tag": ([], {}),
    "a number without an object": (["s", "c9"], {}),
    "a number of the judge's own": (["s", "j9"], {"j9": ["l"]}),
    "an object in itself": (["s", "c1"], {"c1": ["o", PLAIN, [], ["s", "c1"]], "c2": ["x", PLAIN, ["s", "c2"]]}),
    "a function of the standard library": (["g", "os", "system"], {}),
    "a built-in that runs code": (["g", "builtins", "eval"], {}),
    "a test framework": (["g", "pytest", "approx"], {}),
    "a mock": (["s", "c1"], {"c1": ["o", ["g", "unittest.mock", "Mock"], [], None]}),
    "what is equal to everything": (["g", "unittest.mock", "ANY"], {}),
    "a special name": (["g", "builtins", "dict.__class__"], {}),
    "a name that is not there": (["g", "shop", "gone"], {}),
    "a name of another form": (["g", 1, 2], {}),
    "a module that may not be seen": (["m", "subprocess"], {}),
    "a module that is not loaded": (["m", "shop.gone"], {}),
    "a function of the code": (["s", "c1"], {"c1": ["fn", "", ["f", "f", None], [[], [], None, [], None], [None, None], [[], []]]}),
    "a partial function": (["pa", ["g", "shop", "helper"], ["t"]], {}),
    "a method of a library": (["bm", ["g", "builtins", "dict"], "fromkeys"], {}),
    "a special method": (["bm", ["s", "c1"], "__class__"], {"c1": ["o", PLAIN, [], None]}),
    "an instance of no class": (["s", "c1"], {"c1": ["o", 5, [], None]}),
    "an instance of the exception itself": (["s", "c1"], {"c1": ["x", OTHER, ["t"], [], None, None, False]}),
    "an exception made as an object": (["s", "c1"], {"c1": ["o", ["g", "shop", "Missing"], [], None]}),
    "attributes without a place": (["s", "c1"], {"c1": ["o", ["g", "shop", "Slotted"], ["x", 1], None]}),
    "an attribute that is no text": (["s", "c1"], {"c1": ["o", PLAIN, [1, 1], None]}),
    "a method hidden by a value": (["s", "c1"], {"c1": ["o", PLAIN, ["total", 1], None]}),
    "a static method hidden by a value": (["s", "c1"], {"c1": ["o", PLAIN, ["make", 1], None]}),
    "an enumeration's member that is none": (["e", ["g", "shop", "Color"], "GREEN"], {}),
    "a member of what is no enumeration": (["e", PLAIN, "x"], {}),
    "a text that is no number": (["i", "0xzz"], {}),
    "bytes that are none": (["b", "\u00e4"], {}),
    "a class with a base of the tests": (["s", "c1"], {"c1": ["C", "class", "X", "m", [["g", "pytest", "Item"]], [], []]}),
    "a subclass of a class that cannot have any": (["s", "c1"], {"c1": ["C", "class", "X", "m", [["g", "builtins", "bool"]], [], []]}),
}  # fmt: skip


@pytest.mark.parametrize(("value", "states"), REFUSED.values(), ids=REFUSED)
def test_the_judge_refuses(shop, value, states):
    with pytest.raises(CannotCross):
        receive([value], states)


def test_an_object_keeps_its_class(shop):
    judge = said(b"")
    assert type(receive([["s", "c1"]], {"c1": ["o", PLAIN, [], None]}, judge)[0]) is shop.Plain
    with pytest.raises(CannotCross, match="changed its class"):
        receive([None], {"c1": ["o", OTHER, [], None]}, judge)


def test_a_container_keeps_its_kind():
    judge = said(b"")
    assert receive([["s", "c1"]], {"c1": ["l", 1]}, judge) == [[1]]
    with pytest.raises(CannotCross, match="another kind"):
        receive([None], {"c1": ["d", 1, 2]}, judge)


# -- whatever it is told ------------------------------------------------------------------------------------------------

TAGS = sorted(apart["apart_decoder"].BY_TAG)
FORMS = ["l", "d", "S", "ba", "lk", "io", "h", "fn", "C", "o", "x", "zz"]
NUMBERS = ["c1", "c2", "j1", "j2", "g|shop|REGISTRY", "g|os|system", "g|a", ""]
WORDS = st.sampled_from(
    ["shop", "builtins", "os", "Plain", "Item", "Color", "Basket", "Missing", "Slotted", "total", "RED", "__class__",
     "enum", "class", "Lock", "StringIO", "property", "PosixPath", "int16", "a", "b2s=", *NUMBERS]
)  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | WORDS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.builds(lambda tag, rest: [tag, *rest], st.sampled_from(TAGS), st.lists(inner, max_size=4))
        | st.builds(lambda module, name: ["g", module, name], st.just("shop"), WORDS)
        | st.dictionaries(WORDS, inner, max_size=2)
    ),
    max_leaves=8,
)
STATES = st.dictionaries(
    st.sampled_from(NUMBERS),
    st.builds(lambda form, rest: [form, *rest], st.sampled_from(FORMS), st.lists(JUNK, max_size=6)) | JUNK,
    max_size=3,
)


@given(st.lists(JUNK, max_size=3), STATES)
@settings(max_examples=100, deadline=None)
def test_no_message_makes_the_judge_do_anything_but_refuse_or_rebuild(values, states):
    mine, judge = [1, {"a": 2}], said(b"")
    judge.share(mine)
    judge.share(mine[1])
    with shop_module() as shop:
        with suppress(CannotCross):
            receive(values, states, judge)
        assert (mine, vars(shop.REGISTRY)) == ([1, {"a": 2}], {})
