"""Runs arms over tasks: which task-runs are open, in which order they run, and what happens with their results.

Here one task runs at a time unless more `jobs` are asked for, because a small machine's model is the bottleneck and
time is measured too; a cluster runs several tasks at once. All arms run on a task in turn, so that results after a kill
can be compared.
It must not know how figures are computed from the records, nor how a task-run is measured.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from greenloop.core.deadline import gather_or_cancel
from greenloop.core.errors import GreenloopError, UsageError
from greenloop.core.ports import Model
from greenloop.core.records.outcome import StopReason
from greenloop_lab.bench import plans, results
from greenloop_lab.bench.measure import Conditions, Measurement, TaskRun
from greenloop_lab.bench.plans import Arm
from greenloop_lab.bench.recordings import Recordings, TaskAnswers
from greenloop_lab.bench.results import BROKEN, Key, TaskRunResult
from greenloop_lab.bench.tasks import Task

# Different tasks in a row that gave no result, after which the fault is in the machine, not in the tasks.
MAX_BROKEN_TASKS = 3


class Cluster(Protocol):
    """Other machines that run tasks. `receive` gets each result and the name of its machine, as soon as it is there."""

    async def run_tasks(
        self,
        work: Sequence[Sequence[TaskRun]],
        conditions: Conditions,
        recordings: Recordings,
        receive: Callable[[TaskRunResult, str], None],
    ) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment. `settings` by dotted key apply to all arms; `model` replaces the one that they name.

    `goal`: the targets are functions that pass, and what they are to become; None: tests that fail.
    `cluster` runs the tasks on other machines; None: here, `jobs` at a time.
    """

    tasks: Sequence[Task]
    arms: Sequence[Arm]
    out: Path
    answers: Path
    repeats: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    history: Path | None = None
    model: Model | None = None
    goal: str | None = None
    cluster: Cluster | None = None
    jobs: int = 1


async def run(experiment: Experiment, report_status: Callable[[str], None]) -> list[TaskRunResult]:
    """Runs what is not yet in the file of results; returns all task-runs of these arms, tasks and repeats.

    Raises `UsageError` where the file has a different arm or task of the same name, `GreenloopError` where nothing
    can be measured.
    """
    return await _Harness(experiment, report_status).run_all()


class _Harness:
    """Owns the recordings and the finished task-runs."""

    def __init__(self, experiment: Experiment, report_status: Callable[[str], None]) -> None:
        self.experiment = experiment
        self.report_status = report_status
        self.recordings = Recordings(experiment.answers)
        self.done: dict[Key, TaskRunResult] = {
            done.key: done for done in results.read([experiment.out], may_be_missing=True)
        }
        self.conditions = Conditions(
            settings=experiment.settings, history=experiment.history, model=experiment.model, goal=experiment.goal
        )
        self.measurement = Measurement(self.conditions, report_status)
        # Task-runs that gave no result before: their tasks run last, and they say nothing of the machine.
        self.broken_before = {key for key, done in self.done.items() if done.run["reason"] in BROKEN}
        self.broken: list[str] = []

    async def run_all(self) -> list[TaskRunResult]:
        arms = self.experiment.arms
        try:
            await self._run_arms([arm for arm in arms if not arm.match])
            for arm in arms:
                if arm.match:
                    await self._run_matching_arm(arm)
        finally:
            await self.measurement.close()
            if self.experiment.cluster is not None:
                self.experiment.cluster.close()
        keys = [(arm.name, task.id, n) for task in self.experiment.tasks for n in self._repeats() for arm in arms]
        return [self.done[key] for key in keys if key in self.done]

    def _repeats(self) -> range:
        return range(self.experiment.repeats)

    async def _run_arms(self, arms: Sequence[Arm]) -> None:
        tasks = self.experiment.tasks
        await self._run_each([(arm, task, repeat) for task in tasks for repeat in self._repeats() for arm in arms])

    async def _run_each(self, runs: Sequence[TaskRun]) -> None:
        for each in runs:
            self._check_same(*each)
        by_task: dict[str, list[TaskRun]] = {task.id: [] for task in self.experiment.tasks}
        for each in runs:
            if self._is_open(*each):
                by_task[each[1].id].append(each)
        work = [task_runs for task_runs in by_task.values() if task_runs]
        await self._run_tasks(sorted(work, key=self._has_broken_before))

    def _has_broken_before(self, runs: Sequence[TaskRun]) -> bool:
        return any((arm.name, task.id, repeat) in self.broken_before for arm, task, repeat in runs)

    async def _run_matching_arm(self, arm: Arm) -> None:
        """Makes as many calls in total as the matched arm. Recorded answers are not asked for again."""
        calls = [run["calls"] for run in self._finished_runs(arm.match).values()]
        await self._run_arms([_with_attempts(arm, plans.first_limit(calls))])
        tasks = {task.id: task for task in self.experiment.tasks}
        while limits := plans.next_limits(calls, self._finished_runs(arm.name)):
            await self._run_each(
                [(_with_attempts(arm, limit), tasks[task], n) for (_arm, task, n), limit in limits.items()]
            )

    def _finished_runs(self, arm: str) -> dict[Key, Mapping[str, Any]]:
        keys = [(arm, task.id, repeat) for task in self.experiment.tasks for repeat in self._repeats()]
        runs = {key: self.done[key].run for key in keys if key in self.done}
        return {key: run for key, run in runs.items() if run["reason"] not in BROKEN}

    def _is_open(self, arm: Arm, task: Task, repeat: int) -> bool:
        done = self.done.get((arm.name, task.id, repeat))
        if done is None or done.run["reason"] in BROKEN:
            return True
        out_of_attempts = done.run["reason"] == StopReason.ATTEMPTS.value
        return bool(arm.match) and out_of_attempts and done.run["settings"]["attempts"] < arm.settings["attempts"]

    def _check_same(self, arm: Arm, task: Task, repeat: int) -> None:
        done = self.done.get((arm.name, task.id, repeat))
        if done is None:
            return
        difference = ""
        if _comparable_fields(done.run, arm) != _comparable_fields(self.conditions.arm_fields(arm), arm):
            difference = f"the arm '{arm.name}' with other settings"
        elif done.run["digest"] != task.digest:
            difference = f"another task of the name '{task.id}'"
        if difference:
            raise UsageError(
                f"{self.experiment.out} has {difference}.",
                remedy="Write to another file with --out, or remove this one.",
            )

    async def _run_tasks(self, work: Sequence[Sequence[TaskRun]]) -> None:
        """Runs the task-runs of each task, here `jobs` tasks at a time, or on the nodes of a cluster."""
        if self.experiment.cluster is not None:
            await self.experiment.cluster.run_tasks(work, self.conditions, self.recordings, self._receive)
            return
        places = asyncio.Semaphore(self.experiment.jobs)

        async def run_in_turn(runs: Sequence[TaskRun]) -> None:
            async with places:
                await self._run_here(runs)

        await gather_or_cancel([run_in_turn(runs) for runs in work])

    async def _run_here(self, runs: Sequence[TaskRun]) -> None:
        answers = TaskAnswers(recordings=self.recordings, task=runs[0][1].id)
        async with contextlib.aclosing(self.measurement.run_task(runs, answers)) as measured:
            async for done in measured:
                self._receive(done)

    def _receive(self, done: TaskRunResult, place: str = "") -> None:
        """Takes a result in; it is on disk when this returns. Raises `GreenloopError` where nothing can be measured."""
        results.append(self.experiment.out, done)
        self.done[done.key] = done
        tasks = [task.id for task in self.experiment.tasks]
        _arm, task, _repeat = done.key
        progress = f"{tasks.index(task) + 1}/{len(tasks)} {task} {done.run['arm']}"
        self.report_status(f"{progress}: {results.describe_run(done.run)}{f' ({place})' if place else ''}")
        self._count_broken(done)

    def _count_broken(self, done: TaskRunResult) -> None:
        """Counts each task once, however many of its task-runs gave no result one after the other."""
        task = done.run["task"]
        if done.run["reason"] not in BROKEN:
            self.broken.clear()
        elif task not in self.broken and done.key not in self.broken_before:
            self.broken.append(task)
            if len(self.broken) == MAX_BROKEN_TASKS:
                raise GreenloopError(
                    f"{MAX_BROKEN_TASKS} tasks in a row gave no result ({', '.join(self.broken)}); the last: "
                    f"{done.run['message']}",
                    remedy="Fix that, then run the same command again to continue.",
                )


def _with_attempts(arm: Arm, attempts: int) -> Arm:
    return replace(arm, settings={**arm.settings, "attempts": attempts})


def _comparable_fields(fields: Mapping[str, Any], arm: Arm) -> tuple[Any, ...]:
    """The fields by which two task-runs of an arm are compared; a matching arm's attempts depend on another arm."""
    settings = dict(fields["settings"])
    if arm.match:
        settings.pop("attempts", None)
    return fields["preset"], fields.get("parts", {}), settings, fields.get("goal", "")
