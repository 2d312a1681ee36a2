"""Finds a change of one line, or of two, that tests notice: operators take turns, and the seed decides."""

from __future__ import annotations

import ast
import difflib
import itertools
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from greenloop.bench.operators import Function, edits
from greenloop.bench.places import Edit, Source, applied

# Mutants tried in one function before another function's turn.
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
    """The module broken in that function, and how; None where no change of the first few is noticed by `fails`."""
    for chosen in itertools.islice(drawn(source.text, edits(source, function), lines, rng, used), TRIES):
        text = applied(source.text, *chosen)
        if not await fails(text):
            continue
        # Each of two changes must matter, or the other alone would be the task.
        alone = [await fails(applied(source.text, edit)) for edit in chosen] if lines > 1 else [True]
        if all(alone):
            return text, chosen
    return None


def drawn(
    text: str, every: Sequence[Edit], lines: int, rng: random.Random, used: Mapping[str, int]
) -> Iterator[tuple[Edit, ...]]:
    """Changes of so many lines; operators take turns, those that were `used` least first."""
    order = _fair(every, rng, used)
    groups = ((edit,) for edit in order) if lines == 1 else _couples(order, rng)
    for chosen in groups:
        broken = applied(text, *chosen)
        if changed(text, broken) == lines and _parses(broken) and not _same(text, broken):
            yield chosen


def _fair(every: Sequence[Edit], rng: random.Random, used: Mapping[str, int]) -> list[Edit]:
    pools: dict[str, list[Edit]] = {}
    for edit in every:
        pools.setdefault(edit.operator, []).append(edit)
    for pool in pools.values():
        rng.shuffle(pool)
    order = []
    while pools:
        names = list(pools)
        rng.shuffle(names)
        for name in sorted(names, key=lambda name: used.get(name, 0)):
            order.append(pools[name].pop())
            if not pools[name]:
                del pools[name]
    return order


def _couples(order: Sequence[Edit], rng: random.Random) -> Iterator[tuple[Edit, Edit]]:
    couples = [(a, b) for a, b in itertools.combinations(order[:40], 2) if a.line != b.line]
    rng.shuffle(couples)
    for one, other in couples:
        first, second = sorted((one, other), key=lambda edit: edit.start)
        if first.end <= second.start:
            yield first, second


def changed(before: str, after: str) -> int:
    """How many lines of the text are other ones now, gone, or new."""
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
