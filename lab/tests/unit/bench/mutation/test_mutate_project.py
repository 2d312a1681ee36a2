"""Mutants that are drawn."""

from __future__ import annotations

import ast
import random

import pytest

from greenloop_lab.bench.mutation import mutate_project
from greenloop_lab.bench.mutation.ast_edits import Source, apply_edits
from greenloop_lab.bench.mutation.operators import all_edits
from mutable_function import find_function, make_module


@pytest.mark.parametrize("lines", [1, 2])
def test_what_is_drawn_parses_means_something_else_and_changes_so_many_lines(lines):
    body = "c = 0\nfor x in range(len(a)):\n    if a[x] > b and x != 3:\n        c += a[x]\n    else:\n        c -= 1\nreturn c"
    source = Source(make_module(body))
    every = all_edits(source, find_function(source))
    drawn = list(mutate_project.draw_edits(source.text, every, lines, random.Random(1), {}))
    assert len(drawn) > 20
    for chosen in drawn:
        assert len(chosen) == lines
        after = apply_edits(source.text, *chosen)
        assert ast.dump(ast.parse(after)) != ast.dump(source.tree)
        assert mutate_project.count_changed_lines(source.text, after) == lines
    first = [chosen[0].operator for chosen in drawn[:8]]
    assert lines == 2 or len(set(first)) >= 5  # every operator has its turn
    assert list(mutate_project.draw_edits(source.text, every, lines, random.Random(1), {})) == drawn


def test_operators_that_were_used_least_come_first():
    source = Source(make_module("if a < b:\n    return max(a, 3)\nreturn b[1:]"))
    every = all_edits(source, find_function(source))
    names = {edit.operator for edit in every}
    for name in names:
        used = {other: 2 for other in names if other != name}
        order = [
            chosen[0].operator for chosen in mutate_project.draw_edits(source.text, every, 1, random.Random(1), used)
        ]
        assert order[0] == name
