"""Makes mutants of one or two lines that tests notice: operators take turns, in a random order."""

from __future__ import annotations

import ast
import difflib
import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from greenloop.bench.ast_edits import Edit, Source, apply_edits
from greenloop.bench.operators import Function, all_edits
from greenloop.bench.tasks import Task
from greenloop.core.python.ast_source import parse_module_strictly

# Mutants tried in one function before the next function.
MAX_TRIES = 16
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class MutantRequest:
    """Which mutants are made: `count` of them, each with so many changed `lines`, drawn by `seed`.

    `shown` is the number of tests that are shown (None: all but one). `is_excluded` judges the prefix of a task's id.
    """

    count: int
    lines: int
    seed: int
    is_excluded: Callable[[str], bool]
    report_status: Callable[[str], None]
    shown: int | None = None


async def draw_mutants(
    candidates: Iterable[T], make: Callable[[T, Mapping[str, int]], Awaitable[Task | None]], request: MutantRequest
) -> list[Task]:
    """The mutants of the first candidates that have one; `make` gets how often each operator was used so far."""
    tasks: list[Task] = []
    for candidate in candidates:
        if len(tasks) == request.count:
            break
        task = await make(candidate, Counter(operator for task in tasks for operator in task.operators))
        if task is not None:
            tasks.append(task)
            request.report_status(f"{len(tasks)}/{request.count} {task.id}: {', '.join(task.operators)}")
    return tasks


def mutant_task(family: str, lines: int, text: str, edits: Sequence[Edit], **fields: Any) -> Task:
    """The task of a mutant; `text` is the mutated module."""
    return Task(
        id=f"{family}{lines}-{hashlib.sha256(text.encode()).hexdigest()[:6]}",
        kind=f"mutant of {lines} line" + "s" * (lines > 1),
        operators=tuple(edit.operator for edit in edits),
        **fields,
    )


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
        parse_module_strictly(text)
    except SyntaxError:
        return False
    return True


def _is_same_code(before: str, after: str) -> bool:
    return ast.dump(parse_module_strictly(before)) == ast.dump(parse_module_strictly(after))
