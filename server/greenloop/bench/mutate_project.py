"""Finds a mutant of one or two lines that tests notice: operators take turns, in a random order."""

from __future__ import annotations

import ast
import difflib
import itertools
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from greenloop.bench.ast_edits import Edit, Source, apply_edits
from greenloop.bench.operators import Function, all_edits

# Mutants tried in one function before the next function.
MAX_TRIES = 16


async def find_mutant(
    source: Source,
    function: Function,
    fails: Callable[[str], Awaitable[bool]],
    *,
    lines: int,
    rng: random.Random,
    operator_counts: Mapping[str, int],
) -> tuple[str, tuple[Edit, ...]] | None:
    """The module with a mutated function, and the edits; None where `fails` notices none of the first mutants."""
    for chosen in itertools.islice(
        draw_edits(source.text, all_edits(source, function), lines, rng, operator_counts), MAX_TRIES
    ):
        text = apply_edits(source.text, *chosen)
        if not await fails(text):
            continue
        # Each of two edits must fail a test, or the other alone would be the task.
        each_fails = [await fails(apply_edits(source.text, edit)) for edit in chosen] if lines > 1 else [True]
        if all(each_fails):
            return text, chosen
    return None


def draw_edits(
    text: str, candidates: Sequence[Edit], lines: int, rng: random.Random, operator_counts: Mapping[str, int]
) -> Iterator[tuple[Edit, ...]]:
    """Edits that change `lines` lines; operators take turns, the least used ones first."""
    ordered = _take_turns(candidates, rng, operator_counts)
    choices = ((edit,) for edit in ordered) if lines == 1 else _pairs(ordered, rng)
    for chosen in choices:
        mutant = apply_edits(text, *chosen)
        if count_changed_lines(text, mutant) == lines and _parses(mutant) and not _is_same_code(text, mutant):
            yield chosen


def _take_turns(candidates: Sequence[Edit], rng: random.Random, operator_counts: Mapping[str, int]) -> list[Edit]:
    pools: dict[str, list[Edit]] = {}
    for edit in candidates:
        pools.setdefault(edit.operator, []).append(edit)
    for pool in pools.values():
        rng.shuffle(pool)
    ordered = []
    while pools:
        names = list(pools)
        rng.shuffle(names)
        for name in sorted(names, key=lambda name: operator_counts.get(name, 0)):
            ordered.append(pools[name].pop())
            if not pools[name]:
                del pools[name]
    return ordered


def _pairs(ordered: Sequence[Edit], rng: random.Random) -> Iterator[tuple[Edit, Edit]]:
    couples = [(a, b) for a, b in itertools.combinations(ordered[:40], 2) if a.line != b.line]
    rng.shuffle(couples)
    for left, right in couples:
        first, second = sorted((left, right), key=lambda edit: edit.start)
        if first.end <= second.start:
            yield first, second


def count_changed_lines(before: str, after: str) -> int:
    """Counts the lines that were replaced, removed or added."""
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _is_same_code(before: str, after: str) -> bool:
    return ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
