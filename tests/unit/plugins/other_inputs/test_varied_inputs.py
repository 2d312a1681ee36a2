"""Inputs near those of tests: always the same, all different, of the same types."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import pytest

from greenloop.plugins.other_inputs.plain_values import UnplainError
from greenloop.plugins.other_inputs.varied_inputs import (
    Call,
    Instance,
    call_tree,
    move,
    move_calls,
    read_call,
    vary,
    vary_calls,
)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (17, (18, 16, 24, 10, 34)),
        (2.5, (3.5, 1.5, 5.0)),
        (True, (False,)),
        ("abc", ("bbc", "abcc", "ab", "ABC", "cba", "bc", "")),
        (b"ab", (b"aba", b"b")),
        ([3, 4], ([4, 4], [3], [3, 4, 4], [4, 3], [4], [3, 5], [])),
        ((3, (1, 2)), ((3,), ((1, 2), 3), (3, (2, 2)))),
        ({5}, (set(), {5, 6})),
        ({"k": 1}, ({"l": 1}, {"k": 2}, {})),
    ],
)
def test_values_of_the_same_type_near_it(value, wanted):
    found = list(vary(value))
    assert all(any(each == near for near in found) for each in wanted)
    assert value not in [each for each in found if type(each) is type(value)]
    assert {type(each) for each in found} == {type(value)}
    assert len({repr(each) for each in found}) == len(found)


@pytest.mark.parametrize("value", [None, Instance(module="m", qualname="Cart", attributes={"n": 1})])
def test_what_has_no_neighbours(value):
    assert list(vary(value)) == []


@pytest.mark.parametrize(
    ("value", "moved"),
    [
        (17, 20),
        (2.5, 5.5),
        (True, True),
        ("Xyz 8-a", "Abc 1-d"),
        (["on", ("no", 1)], ["rq", ("qr", 4)]),
        ({"a": {1}}, {"d": {4}}),
        (date(2026, 1, 30), date(2026, 2, 2)),
        (date(9999, 12, 31), date(9999, 12, 31)),
        (Decimal("1.5"), Decimal("4.5")),
        (None, None),
    ],
)
def test_a_value_of_the_same_form_has_every_part_moved(value, moved):
    assert repr(move(value, 3)) == repr(moved)


def test_calls_of_the_same_form():
    calls = [Call(function=0, positional=(5,), named={"by": "a"}), Call(function=1, positional=(None,))]
    moved = [(each.positional, each.named) for each in move_calls(calls)]
    assert moved == [((8,), {"by": "d"}), ((9,), {"by": "e"}), ((14,), {"by": "j"}), ((25,), {"by": "u"})]
    assert not {call.key for call in vary_calls([Call(function=0, positional=(5,))], 60, move_calls(calls))} & {
        call.key for call in move_calls(calls)
    }


def test_every_call_and_every_argument_has_its_turn():
    calls = [Call(function=0, positional=(5, "ab"), named={"k": 3}), Call(function=1, positional=([1, 2],))]
    found = vary_calls(calls, 40)
    assert len(found) == 40
    assert found == vary_calls(calls, 40)
    assert {each.function for each in found[:6]} == {0, 1}
    changed = [
        (each.positional[0] != 5, each.positional[1] != "ab", each.named != {"k": 3})
        for each in found
        if each.function == 0
    ]
    assert {(True, False, False), (False, True, False), (False, False, True)} == set(changed)
    assert not {each.key for each in calls} & {each.key for each in found}


def test_a_call_survives_json():
    held = {"items": [1, 2.5], "names": {"a": (b"x", None)}}
    call = Call(
        function=2, positional=(Instance(module="m", qualname="Cart", attributes=held), {3, 4}), named={"x": 1j}
    )
    assert read_call(json.loads(json.dumps(call_tree(call)))) == call


@pytest.mark.parametrize("tree", [[0, [["iterator", []]], {}], [0, [["object", "m", "C", [["<items>", []]]]], {}]])
def test_what_is_only_shown_is_no_call(tree):
    with pytest.raises(UnplainError):
        read_call(tree)
