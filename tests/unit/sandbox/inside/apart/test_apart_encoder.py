"""Identity, changes in place and exceptions survive the way between judge and code."""

from __future__ import annotations

import collections
import copy

import pytest

from two_sides import conversation


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
