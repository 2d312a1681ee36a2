"""Changes that are stacked on one line."""

from __future__ import annotations

import ast
import itertools
import random

import pytest

from greenloop_lab.bench.mutation import mutate_project
from greenloop_lab.bench.mutation.ast_edits import Source, apply_edits
from greenloop_lab.bench.mutation.mutate_project import MutantRequest
from greenloop_lab.bench.mutation.operators import all_edits
from greenloop_lab.bench.mutation.stacked_edits import stack_edits
from mutable_function import find_function, make_module

BODY = (
    "c = 0\nfor x in range(len(a)):\n    if a[x] > b and x != 3:\n        c += a[x] * 2\n"
    "    elif a[x] + 1 < b * 2 or c == 4:\n        c -= max(a[x], 7) - b\n    else:\n        c = b * c - 1\nreturn c"
)


def mutants(breadth: int, depth: int):
    source = Source(make_module(BODY))
    function = find_function(source)
    rng = random.Random(3)
    edits = stack_edits(source, function, depth, rng)
    drawn = mutate_project.draw_edits(source.text, edits, breadth, rng, {})
    return source, function, list(itertools.islice(drawn, 20))


@pytest.mark.parametrize("breadth", [1, 2, 3])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_so_many_changes_are_stacked_on_so_many_lines(breadth, depth):
    source, function, found = mutants(breadth, depth)
    assert len(found) == 20
    singly = {ast.dump(ast.parse(apply_edits(source.text, each))) for each in all_edits(source, function)}
    for chosen in found:
        assert [len(edit.operators) for edit in chosen] == [depth] * breadth
        after = apply_edits(source.text, *chosen)
        assert mutate_project.count_changed_lines(source.text, after) == breadth
        # No single change of the code gives a line with several.
        assert depth == 1 or all(ast.dump(ast.parse(apply_edits(source.text, edit))) not in singly for edit in chosen)


def test_a_line_without_room_for_more_gives_no_mutant():
    source = Source(make_module("return a"))
    assert stack_edits(source, find_function(source), 1, random.Random(1))
    assert stack_edits(source, find_function(source), 3, random.Random(1)) == []


async def test_the_shape_of_a_mutant_is_in_its_id_and_kind():
    source = Source(make_module(BODY))
    request = MutantRequest(
        count=1, seed=1, breadth=2, depth=3, is_excluded=lambda _: False, report_status=lambda _: None
    )

    async def fails(_text):
        return True

    text, chosen = await mutate_project.find_mutant(
        source, find_function(source), fails, request=request, rng=random.Random(1), operator_counts={}
    )
    task = mutate_project.mutant_task("m-", request, text, chosen, target="t", files={}, cases=("c",))
    assert task.id.startswith("m-2x3-")
    assert task.kind == "mutant of 2 lines, 3 changes each"
    assert len(task.operators) == 6


def test_what_one_change_has_put_in_is_not_changed_by_the_next():
    source = Source(make_module("return a[b]"))
    texts = [
        edit.text for seed in range(5) for edit in stack_edits(source, find_function(source), 2, random.Random(seed))
    ]
    assert any("b + 1" in text or "a + 1" in text for text in texts)
    assert not any("+ 0" in text or "+ 2" in text for text in texts)
