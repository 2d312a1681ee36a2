"""Finds a mutant of one or two lines that tests notice: operators take turns, in a random order."""

from __future__ import annotations

import ast
import difflib
import itertools
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from greenloop.bench.ast_edits import Edit, Source, applied
from greenloop.bench.operators import Function, edits

# Mutants tried in one function before the next function.
TRIES = 16


async def broken(
    source: Source,
    function: Function,
    fails: Callable[[str], Awaitable[bool]],
    *,
    lines: int,
    rng: random.Random,
    used: Mapping[str, int],
) -> tuple[str, tuple[Edit, ...]] | None:
    """The module with a mutated function, and the edits; None where `fails` notices none of the first mutants."""
    for chosen in itertools.islice(drawn(source.text, edits(source, function), lines, rng, used), TRIES):
        text = applied(source.text, *chosen)
        if not await fails(text):
            continue
        # Each of two edits must fail a test, or the other alone would be the task.
        each_fails = [await fails(applied(source.text, edit)) for edit in chosen] if lines > 1 else [True]
        if all(each_fails):
            return text, chosen
    return None


def drawn(
    text: str, every: Sequence[Edit], lines: int, rng: random.Random, used: Mapping[str, int]
) -> Iterator[tuple[Edit, ...]]:
    """Edits that change `lines` lines; operators take turns, the least used ones first."""
    ordered = _fair(every, rng, used)
    choices = ((edit,) for edit in ordered) if lines == 1 else _couples(ordered, rng)
    for chosen in choices:
        mutant = applied(text, *chosen)
        if changed(text, mutant) == lines and _parses(mutant) and not _same(text, mutant):
            yield chosen


def _fair(every: Sequence[Edit], rng: random.Random, used: Mapping[str, int]) -> list[Edit]:
    pools: dict[str, list[Edit]] = {}
    for edit in every:
        pools.setdefault(edit.operator, []).append(edit)
    for pool in pools.values():
        rng.shuffle(pool)
    ordered = []
    while pools:
        names = list(pools)
        rng.shuffle(names)
        for name in sorted(names, key=lambda name: used.get(name, 0)):
            ordered.append(pools[name].pop())
            if not pools[name]:
                del pools[name]
    return ordered


def _couples(order: Sequence[Edit], rng: random.Random) -> Iterator[tuple[Edit, Edit]]:
    couples = [(a, b) for a, b in itertools.combinations(order[:40], 2) if a.line != b.line]
    rng.shuffle(couples)
    for left, right in couples:
        first, second = sorted((left, right), key=lambda edit: edit.start)
        if first.end <= second.start:
            yield first, second


def changed(before: str, after: str) -> int:
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


def _same(one: str, other: str) -> bool:
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
