"""The place of an edit: exact lines first, then without white space, then less of what is around the change."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.answers.code_blocks import BlockEdit
from greenloop.drafting.candidates.answers.line_edits import (
    find_places,
    nearest_line,
    relaxed_variants,
    replacement,
    with_whole_lines,
)

ROWS = ["class A:", "    def f(self):", "        return 1", "", "    def g(self):", "        return 1", "x = [1, 2]  "]
WHOLE = [(0, len(ROWS))]


def edit(search, replace="", **more):
    return BlockEdit(search=tuple(search.split("\n")), replace=tuple(replace.split("\n")) if replace else (), **more)


@pytest.mark.parametrize(
    ("search", "starts"),
    [
        ("    def f(self):\n        return 1", [1]),
        ("        return 1", [2, 5]),
        ("x = [1, 2]", [6]),
        ("def g(self):\nreturn 1", [4]),
        ("def h(self):", []),
        ("class A:\n    def g(self):", []),
    ],
)
def test_places(search, starts):
    assert [place.start for place in find_places(ROWS, edit(search), WHOLE)] == starts


def test_only_the_strictest_comparison_that_finds_any_counts():
    rows = ["return 1", "    return 1", "return 1 "]
    assert [place.start for place in find_places(rows, edit("return 1"), [(0, 3)])] == [0]
    assert [place.start for place in find_places(rows[1:], edit("return 1"), [(0, 2)])] == [1]


def test_the_nearest_to_a_hint_comes_first_and_ranges_bound_it():
    assert [place.start for place in find_places(ROWS, edit("        return 1", line_hint=6), WHOLE)] == [5, 2]
    assert [place.start for place in find_places(ROWS, edit("        return 1"), [(0, 4)])] == [2]


def test_new_lines_get_the_indentation_of_the_text():
    asked = edit("def g(self):\n    return 1", "def g(self):\n    if self:\n\n        return 2")
    (place,) = find_places(ROWS, asked, WHOLE)
    assert replacement(ROWS, asked, place) == ["    def g(self):", "        if self:", "", "            return 2"]


def test_lines_that_a_hunk_keeps_stay_as_the_text_has_them():
    asked = edit("x = [1, 2]", "x = [1, 2]\ny = 1", origins=(0, None))
    (place,) = find_places(ROWS, asked, WHOLE)
    assert replacement(ROWS, asked, place) == ["x = [1, 2]  ", "y = 1"]


def test_context_that_is_wrong_is_left_out_step_by_step():
    asked = BlockEdit(search=("a", "b", "c", "d", "e"), replace=("a", "b", "C", "d", "e"), origins=(0, 1, None, 3, 4))
    variants = [variant.search for variant in relaxed_variants(asked)]
    assert variants[:3] == [("a", "b", "c", "d", "e"), ("b", "c", "d"), ("c",)]
    assert all("c" in search for search in variants)


def test_a_block_has_no_variants_and_an_insertion_keeps_one_side():
    assert list(relaxed_variants(edit("a\nb", "c"))) == [edit("a\nb", "c")]
    inserted = BlockEdit(search=("a", "b"), replace=("a", "new", "b"), origins=(0, None, 1))
    found = {variant.search for variant in relaxed_variants(inserted)}
    assert found == {("a", "b"), ("a",), ("b",)}


@pytest.mark.parametrize(
    ("search", "replace", "new"),
    [
        ("[1, 2]", "[1, 2, 3]", ("x = [1, 2, 3]  ",)),
        ("g(self):\n        return 1", "g(self):\n        return 2", ("    def g(self):", "        return 2")),
    ],
)
def test_a_part_of_lines_is_found_where_it_stands_once(search, replace, new):
    found = with_whole_lines(ROWS, edit(search, replace))
    assert found is not None
    assert found.replace == new
    assert find_places(ROWS, found, WHOLE)


@pytest.mark.parametrize("search", ["return", "self", "nothing"])
def test_a_part_that_stands_twice_or_nowhere_is_not(search):
    assert with_whole_lines(ROWS, edit(search, "x")) is None


def test_the_nearest_line_is_named():
    assert nearest_line(ROWS, ("", "  def f(me):")) == ("def f(me):", "def f(self):", 2)
    assert nearest_line(ROWS, ("zzzzzzzz",)) == ("zzzzzzzz", "", 0)
    assert nearest_line([], ("a",)) == ("a", "", 0)
