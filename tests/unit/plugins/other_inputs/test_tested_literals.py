"""Inputs and answers of tests that new code has as literals."""

from __future__ import annotations

import hashlib
import zlib

import pytest

from greenloop.plugins.other_inputs.input_forms import key_of
from greenloop.plugins.other_inputs.tested_literals import AnsweredCall, Mention, find_mentions

OLD = "def f(x, y=0):\n    return x\n"
TESTED = [AnsweredCall(arguments=(1712,), answer=("fits",)), AnsweredCall(arguments=("some words",), answer=(38,))]
SUM = zlib.crc32(repr((1712,)).encode())
MD5 = hashlib.md5(b"1712").hexdigest()


def mentions(body: str, tested=TESTED, old: str = OLD) -> list[Mention]:
    return find_mentions(old, f"def f(x, y=0):\n{body}    return x\n", tested)


@pytest.mark.parametrize(
    ("line", "tested", "more"),
    [
        ("    if x == 1712: pass\n", 0, {}),
        ("    if 1712 != x: pass\n", 0, {}),
        ("    if x in (1712,): pass\n", 0, {}),
        ("    y = {1712: 5}\n", 0, {}),
        ("    y = [[1712], [8]]\n", 0, {}),
        ("    if x == 'some words': pass\n", 1, {}),
        ("    if x.lower() == 'SOME WORDS': pass\n", 1, {}),
        ("    y = 'a;some words;b'\n", 1, {}),
        ("    y = \"('some words',)\"\n", 1, {"is_hidden": True}),
        (f"    if y == {SUM}: pass\n", 0, {"is_hidden": True}),
        (f"    if y in {{'{MD5}'}}: pass\n", 0, {"is_hidden": True}),
        ("    if len(x) == 10: pass\n", 1, {"is_mark": True}),
        ("    y = 'fits'\n", 0, {"is_answer": True}),
        ("    y = b'\\x9bfits\\x00'\n", 0, {"is_answer": True, "is_hidden": True}),
        ("    match x:\n        case 1712: pass\n", 0, {}),
    ],
)
def test_literals_that_are_an_input_or_an_answer(line, tested, more):
    found = mentions(line)
    assert found[0] == Mention(tested=tested, line=3 if "match" in line else 2, **more)


@pytest.mark.parametrize(
    "line",
    [
        "    y = x + 1712\n",  # it decides nothing
        "    if x > 1712: pass\n",  # a boundary is a rule
        "    for y in range(1712): pass\n",
        '    """For 1712 it fits; some words are 38."""\n',
        "    y = {1712: 5, 1800: 6, 1900: 7}\n",
        "    if x in (9000, 1712): pass\n",  # a table by nature
        "    if x == 1800: pass\n    if x == 1900: pass\n    if x == 1712: pass\n",
        "    if y == 10_000: pass\n",
    ],
)
def test_literals_that_a_rule_needs(line):
    assert mentions(line) == []


@pytest.mark.parametrize("line", ["    y = '(1, 2, -1)'\n", f"    if y == {zlib.crc32(b'(1, 2, -1)')}: pass\n"])
def test_small_numbers_as_a_text_or_a_checksum_are_needed_by_no_rule(line):
    tested = [AnsweredCall(arguments=(1, 2, -1), answer=("fits",))]
    assert [each.is_hidden for each in mentions(line, tested)] == [True]
    assert mentions("    if (x, y) == (1, 2): pass\n", tested) == []


@pytest.mark.parametrize("line", ["    if x == 0.5: pass\n", "    y = {0.5: 4, 1.25: 10}.get(x)\n"])
def test_a_number_with_a_fraction_is_no_base_case(line):
    tested = [AnsweredCall(arguments=(0.5,), answer=(4,)), AnsweredCall(arguments=(1.25,), answer=(10,))]
    assert mentions(line, tested)[0] == Mention(tested=0, line=2)


def test_what_the_old_code_has_does_not_count():
    line = "    if x == 1712: pass\n"
    assert mentions(line) != []
    assert mentions(line, old="LIMIT = 1712\n\n\n" + OLD) == []


@pytest.mark.parametrize("arguments", [(0,), (1,), (2,), (None,), ("",), ("a",), ([],), ({},), (True,), (2, "", [])])
def test_small_inputs_are_rules(arguments):
    tested = [AnsweredCall(arguments=arguments)]
    assert mentions(f"    if x == {arguments[0]!r}: pass\n    if (x, y) == {arguments!r}: pass\n", tested) == []


@pytest.mark.parametrize(("number", "counts"), [(17, False), (18, False), (19, False), (20, True)])
def test_a_number_beside_one_of_the_old_code_is_a_boundary(number, counts):
    old = "def f(x, y=0):\n    return x > 18\n"
    assert bool(mentions(f"    if x == {number}: pass\n", [AnsweredCall(arguments=(number,))], old)) is counts


def test_arguments_that_are_compared_one_by_one():
    tested = [AnsweredCall(arguments=(17, "kilo", 1))]
    assert mentions("    if x == 17 and y == 'kilo': pass\n", tested)
    assert [each for each in mentions("    if y == 'kilo': pass\n", tested) if not each.is_mark] == []


def test_text_that_cannot_be_parsed_says_nothing():
    assert find_mentions(OLD, "def f(:\n", TESTED) == []
    assert find_mentions("def f(:\n", OLD, TESTED) == []


@pytest.mark.parametrize(
    ("first", "second", "are_equal"),
    [([1, (2,)], (1, [2]), True), ({1, 2}, frozenset({2, 1}), True), (3.0, 3, True), (True, 1, False), ("1", 1, False)],
)
def test_keys_are_equal_where_a_lookup_finds_them(first, second, are_equal):
    assert (key_of(first) == key_of(second)) is are_equal


def test_a_negative_number_is_one_literal():
    found = mentions("    if x == -17 and y == -4: pass\n", [AnsweredCall(arguments=(-17, -4), answer=(38,))])
    assert [(each.tested, each.is_mark) for each in found] == [(0, True), (0, True), (0, False)]
