"""Runs arms on one half of the tasks, and compares the best on the other half by an exact paired test.

It must not know what the arms differ in.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from greenloop.core.errors import UsageError
from greenloop_lab.bench.plans import Arm
from greenloop_lab.bench.reporting.figures import Pair, compare_pairs, mcnemar
from greenloop_lab.bench.results import BROKEN, TaskRunResult
from greenloop_lab.bench.run import Experiment, run
from greenloop_lab.bench.tasks import Task

# The probability below which a difference is believed, and the fewest tasks of a half that can show one.
LEVEL = 0.05
FEWEST = next(count for count in range(1, 100) if mcnemar(count, 0) < LEVEL)


@dataclass(frozen=True, kw_only=True)
class Halves:
    """The tasks to search with, and those to confirm with."""

    search: Sequence[Task]
    confirm: Sequence[Task]


def split_tasks(tasks: Sequence[Task], seed: int) -> Halves:
    """Halves in which every kind of task is alike. Raises `UsageError` for too few tasks to show a difference."""
    if len(tasks) < 2 * FEWEST:
        raise UsageError(
            f"{len(tasks)} tasks cannot show that anything is better: "
            f"a half of at least {FEWEST} is needed for p < {LEVEL:g}.",
            remedy=f"Name at least {2 * FEWEST} tasks; forty or more show a smaller gain.",
        )
    drawn = random.Random(seed).sample(list(tasks), len(tasks))  # noqa: S311
    ordered = sorted(drawn, key=lambda task: task.kind)
    return Halves(search=ordered[::2], confirm=ordered[1::2])


@dataclass(kw_only=True)
class Trials:
    """Runs arms over halves of tasks, each once: all results are in the file of the experiment."""

    experiment: Experiment
    halves: Halves
    report_status: Callable[[str], None]
    solved: dict[str, int] = field(default_factory=dict)

    async def search(self, arm: Arm) -> int:
        """Returns how many tasks of the first half the arm solves."""
        if arm.name not in self.solved:
            done = await self._run([arm], self.halves.search)
            self.solved[arm.name] = sum(bool(each.run["right"]) for each in done)
            self.report_status(f"{arm.name}: {self.solved[arm.name]} of {len(self.halves.search)} solved")
        return self.solved[arm.name]

    async def failures(self, arm: Arm) -> list[TaskRunResult]:
        """The task-runs of the first half that the arm did not solve."""
        return [each for each in await self._run([arm], self.halves.search) if not each.run["right"]]

    async def confirm(self, now: Arm, better: Arm) -> Pair:
        """Compares two arms on the second half, which nothing was chosen by."""
        done = await self._run([now, better], self.halves.confirm)
        (pair,) = compare_pairs(done, frozenset(BROKEN))
        return pair

    async def _run(self, arms: Sequence[Arm], tasks: Sequence[Task]) -> list[TaskRunResult]:
        experiment = replace(self.experiment, arms=arms, tasks=tasks)
        done = await run(experiment, self.report_status)
        if any(each.run["reason"] in BROKEN for each in done):  # a fault of the machine should decide nothing
            done = await run(experiment, self.report_status)
        return done


def is_better(pair: Pair) -> bool:
    """Does the second arm of the pair solve more, by a difference that chance would seldom make?"""
    return pair.only_other > pair.only_one and pair.p < LEVEL


def describe_pair(pair: Pair) -> str:
    return (
        f"On the other half, {pair.only_other} of {pair.count} tasks are solved only with it, and {pair.only_one} only "
        f"without it (exact McNemar p = {pair.p:.4f})."
    )
