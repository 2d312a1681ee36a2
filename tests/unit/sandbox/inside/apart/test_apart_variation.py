"""All that the code hands over is made wrong: alike for like values, or by chance."""

from __future__ import annotations

import copy

import pytest

from two_sides import apart

Variation = apart["apart_variation"].Variation
TUPLE = ["t", "abc", 3, ["f", "0.5"], ["i", "0xff"], None, True]


def varied(wrong: str, value: object, *, kind: str = "call", operation: str = "f", **fields: object):
    message = {"k": "return", "v": [value], "o": {}, **fields}
    Variation(wrong).vary(kind, operation, message, {})
    return message


def test_like_values_become_like_ones():
    first, second = varied("alike+", ["t", TUPLE, TUPLE])["v"][0][1:]
    assert first == second
    tag, text, number, small, large, nothing, yes = first
    assert (tag, nothing, yes) == ("t", None, True)
    assert len(text) == 3
    assert text != "abc"
    assert number > 3
    assert float(small[1]) > 0.5
    assert int(large[1], 16) > 255


def test_yes_and_no_change_where_it_is_asked_for():
    assert varied("alike-!", TUPLE)["v"][0][-1] is False
    assert varied("alike-!", 5)["v"][0] < 0


def test_by_chance_like_values_differ():
    found = varied("chance!", ["t", *["abc", 3] * 40])["v"][0]
    assert len({*found[1::2]}) > 1
    assert len({*found[2::2]}) > 1


@pytest.mark.parametrize(
    "how",
    [{"wrong": "all"}, {"kind": "signature"}, {"operation": "__init__"}, {"kind": "op", "operation": "hash"}],
    ids=["another run", "what a function looks like", "a constructor", "a hash"],
)
def test_what_the_code_does_not_compute_stays(how):
    assert varied(**{"wrong": "alike+", "value": TUPLE, **how})["v"] == [TUPLE]


def test_references_and_keys_stay():
    state = {"c1": ["d", "key", 3, "other", ["s", "j1"]], "c2": ["o", ["g", "m", "C"], ["name", "Ann"]], "c3": ["l"]}
    found = varied("alike+", ["s", "c1"], o=copy.deepcopy(state))
    assert found["v"] == [["s", "c1"]]
    assert found["o"]["c1"][:2] == ["d", "key"]
    assert found["o"]["c1"][3:] == ["other", ["s", "j1"]]
    assert found["o"]["c1"][2] != 3
    assert found["o"]["c2"][2][0] == "name"
    assert found["o"]["c2"][2][1] != "Ann"
    assert len(found["o"]["c3"]) == 2


def test_only_the_item_of_a_step_changes_and_what_is_printed():
    found = varied("alike-!", ["t", False, 3], kind="op", operation="step", printed=[["stdout", "abc"]])
    assert found["v"][0][:2] == ["t", False]
    assert found["v"][0][2] != 3
    assert found["printed"][0][0] == "stdout"
    assert found["printed"][0][1] != "abc"
