"""Makes mutants of one to three places that tests notice: operators take turns, in a random order.

At each place one to three changes are stacked on one line (`bench/mutation/stacked_edits.py`).
"""

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

from greenloop.core.python.ast_source import parse_module_strictly
from greenloop_lab.bench.mutation.ast_edits import Edit, Source, apply_edits
from greenloop_lab.bench.mutation.operators import Function
from greenloop_lab.bench.mutation.stacked_edits import stack_edits
from greenloop_lab.bench.tasks import Task

# Mutants tried in one function before the next function.
MAX_TRIES = 16
# Edits that are combined with one another; the first ones, in which all operators have their turn.
MAX_COMBINED = 40
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class MutantRequest:
    """Choice of mutants: `count` of them, drawn by `seed`.

    `breadth` is the number of changed lines, `depth` that of the changes stacked on each of them.
    `shown` is the number of tests that are shown (None: all but one). `is_excluded` judges the prefix of a task's id.
    """

    count: int
    seed: int
    is_excluded: Callable[[str], bool]
    report_status: Callable[[str], None]
    shown: int | None = None
    breadth: int = 1
    depth: int = 1

    @property
    def shape(self) -> str:
        """Breadth and depth in one word, as they are in ids of tasks and in random seeds."""
        return f"{self.breadth}" + (f"x{self.depth}" if self.depth > 1 else "")


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


def mutant_task(family: str, request: MutantRequest, text: str, edits: Sequence[Edit], **fields: Any) -> Task:
    """The task of a mutant; `text` is the mutated module."""
    depth = f", {request.depth} changes each" if request.depth > 1 else ""
    return Task(
        id=f"{family}{request.shape}-{hashlib.sha256(text.encode()).hexdigest()[:6]}",
        kind=f"mutant of {request.breadth} line" + "s" * (request.breadth > 1) + depth,
        operators=tuple(operator for edit in edits for operator in edit.operators),
        **fields,
    )


async def find_mutant(
    source: Source,
    function: Function,
    fails: Callable[[str], Awaitable[bool]],
    *,
    request: MutantRequest,
    rng: random.Random,
    operator_counts: Mapping[str, int],
) -> tuple[str, tuple[Edit, ...]] | None:
    """The module with a mutated function, and the edits; None where `fails` notices none of the first mutants."""
    edits = stack_edits(source, function, request.depth, rng)
    for chosen in itertools.islice(draw_edits(source.text, edits, request.breadth, rng, operator_counts), MAX_TRIES):
        text = apply_edits(source.text, *chosen)
        if not await fails(text):
            continue
        # Each of several edits must fail a test, or the others alone would be the task.
        each_fails = [await fails(apply_edits(source.text, edit)) for edit in chosen] if len(chosen) > 1 else [True]
        if all(each_fails):
            return text, chosen
    return None


def draw_edits(
    text: str, candidates: Sequence[Edit], lines: int, rng: random.Random, operator_counts: Mapping[str, int]
) -> Iterator[tuple[Edit, ...]]:
    """Edits that change `lines` lines; operators take turns, the least used ones first."""
    ordered = _take_turns(candidates, rng, operator_counts)
    choices = ((edit,) for edit in ordered) if lines == 1 else _groups(ordered, lines, rng)
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


def _groups(ordered: Sequence[Edit], lines: int, rng: random.Random) -> Iterator[tuple[Edit, ...]]:
    """Edits of different lines that do not overlap, in the order of the text."""
    groups = itertools.combinations(ordered[:MAX_COMBINED], lines)
    apart = [group for group in groups if len({edit.line for edit in group}) == lines]
    rng.shuffle(apart)
    for group in apart:
        chosen = tuple(sorted(group, key=lambda edit: edit.start))
        if all(first.end <= second.start for first, second in itertools.pairwise(chosen)):
            yield chosen


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
