"""Runs arms over tasks, one task-run at a time: the model is the bottleneck, and time is measured too.

All arms run on a task before the next task, so that results after a kill can be compared.
It must not know how figures are computed from the records.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from greenloop import __version__
from greenloop.bench import history_tree, plans, results
from greenloop.bench.hidden_tests import Judge
from greenloop.bench.oracle import Oracle
from greenloop.bench.plans import Arm, settings_for
from greenloop.bench.recordings import ORACLE, REFERENCE, Meter, RecordedModel, Recordings, Reference, wrap_model
from greenloop.bench.results import BROKEN, Key, TaskRunResult
from greenloop.bench.task_folder import Place, lay_out_task
from greenloop.bench.tasks import Task
from greenloop.core.errors import GreenloopError, UsageError
from greenloop.core.events import Event, Started
from greenloop.core.ports import Model
from greenloop.core.records.goal import Goal
from greenloop.core.records.model import Role
from greenloop.core.records.outcome import Outcome, StopReason
from greenloop.core.records.problem import Problem
from greenloop.engine import refine
from greenloop.models import roles
from greenloop.models.roles import Models
from greenloop.project import sources
from greenloop.project.settings import Settings
from greenloop.sandboxes.pool import SandboxPool

# Failed task-runs in a row, after which the fault is in the machine, not in the tasks.
MAX_BROKEN_IN_A_ROW = 3

TaskRun = tuple[Arm, Task, int]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment. `settings` by dotted key apply to all arms; `model` replaces the one that they name.

    `goal`: the targets are functions that pass, and what they are to become; None: tests that fail.
    """

    tasks: Sequence[Task]
    arms: Sequence[Arm]
    out: Path
    answers: Path
    repeats: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    history: Path | None = None
    model: Model | None = None
    goal: Goal | None = None


async def run(experiment: Experiment, report_status: Callable[[str], None]) -> list[TaskRunResult]:
    """Runs what is not yet in the file of results; returns all task-runs of these arms, tasks and repeats.

    Raises `UsageError` where the file has a different arm or task of the same name, `GreenloopError` where nothing
    can be measured.
    """
    return await _Harness(experiment, report_status).run_all()


class _Harness:
    """Owns the models, the recordings and the finished task-runs."""

    def __init__(self, experiment: Experiment, report_status: Callable[[str], None]) -> None:
        self.experiment = experiment
        self.report_status = report_status
        self.recordings = Recordings(experiment.answers)
        self.done: dict[Key, TaskRunResult] = {
            done.key: done for done in results.read([experiment.out], may_be_missing=True)
        }
        self.models: dict[str, Model] = {}
        self.broken = 0

    async def run_all(self) -> list[TaskRunResult]:
        arms = self.experiment.arms
        try:
            await self._run_arms([arm for arm in arms if not arm.match])
            for arm in arms:
                if arm.match:
                    await self._run_matching_arm(arm)
        finally:
            for model in self.models.values():
                await model.close()
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
        tasks = self.experiment.tasks
        for number, task in enumerate(tasks, 1):
            if open_runs := [each for each in runs if each[1] is task and self._is_open(*each)]:
                await self._run_task(task, open_runs, f"{number}/{len(tasks)}")

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
        if _comparable_fields(done.run, arm) != _comparable_fields(self._arm_fields(arm), arm):
            difference = f"the arm '{arm.name}' with other settings"
        elif done.run["digest"] != task.digest:
            difference = f"another task of the name '{task.id}'"
        if difference:
            raise UsageError(
                f"{self.experiment.out} has {difference}.",
                remedy="Write to another file with --out, or remove this one.",
            )

    def _arm_fields(self, arm: Arm) -> dict[str, Any]:
        settings = {**self.experiment.settings, **arm.settings}
        goal = {"goal": self.experiment.goal.value} if self.experiment.goal else {}
        return {
            "preset": arm.preset.name,
            "parts": arm.recorded_parts,
            "settings": settings,
            **goal,
        }

    async def _run_task(self, task: Task, runs: Sequence[TaskRun], progress: str) -> None:
        pool = SandboxPool()
        with TemporaryDirectory(prefix="greenloop-bench-") as name:
            settings = self._settings(runs[0][0], task)
            place = lay_out_task(task, Path(name), settings)
            try:
                # The sandbox is opened before the first arm, for all alike; an editor does not wait for it either.
                await refine.warm(place.root, settings, pool, place.variables)
                for arm, _task, repeat in runs:
                    done = await self._measure(task, arm, repeat, place, pool)
                    results.append(self.experiment.out, done)
                    self.done[done.key] = done
                    self.report_status(f"{progress} {task.id} {arm.name}: {results.describe_run(done.run)}")
                    self._count_broken(done)
            finally:
                await pool.close()

    def _count_broken(self, done: TaskRunResult) -> None:
        self.broken = self.broken + 1 if done.run["reason"] in BROKEN else 0
        if self.broken == MAX_BROKEN_IN_A_ROW:
            raise GreenloopError(
                f"{MAX_BROKEN_IN_A_ROW} task-runs in a row gave no result; the last: {done.run['message']}",
                remedy="Fix that, then run the same command again to continue.",
            )

    def _settings(self, arm: Arm, task: Task) -> Settings:
        own = {"interpreter": task.interpreter, "spec.constraints": list(task.constraints)}
        table = self._arm_fields(arm)["settings"] | {"preset": arm.preset.name}
        table |= {key: value for key, value in own.items() if value}
        folder = Path(task.folder) if task.folder else None
        settings = settings_for(table, folder)
        if not task.commit or folder is None:
            return settings
        return history_tree.settings_of(settings, history_tree.find_interpreter(folder, settings))

    def _make_models(
        self, task: Task, place: Place, settings: Settings, meter: Meter, repeat: int, name: str
    ) -> Models:
        """The models of one run, each behind the recordings."""

        def recorded(model: Model) -> RecordedModel:
            return wrap_model(model, self.recordings, meter, repeat=repeat)

        def opener(name: str, settings: Settings) -> Model:
            key = f"{name} {settings.api} {settings.embedded}"
            if key not in self.models:
                self.models[key] = roles.open_model(name, settings)
            return recorded(self.models[key])

        def own_text(path: str) -> str | None:
            return task.files.get(path) or sources.read_text(place.root, path)

        override = self.experiment.model
        if name == ORACLE:
            override = Oracle(task, own_text)
        elif name == REFERENCE:
            override = Reference(task)
        return Models(settings=settings, override=recorded(override) if override else None, factory=opener)

    async def _measure(self, task: Task, arm: Arm, repeat: int, place: Place, pool: SandboxPool) -> TaskRunResult:
        settings, arm_fields = self._settings(arm, task), self._arm_fields(arm)
        if task.commit:
            settings = history_tree.show_test_data(settings, place.root)
        meter = Meter()
        name = arm_fields["settings"].get("model", "")
        models = self._make_models(task, place, settings, meter, repeat, name)
        problem: Problem | None = None

        def emit(event: Event) -> None:
            nonlocal problem
            if isinstance(event, Started):
                problem = event.problem

        buffers = {path: text.encode() for path, text in task.files.items()} if task.folder else {}
        goal = self.experiment.goal
        request = refine.Request(root=place.root, target=task.target, buffers=buffers, goal=goal, calls=task.calls)
        harness = refine.Harness(
            preset=arm.preset, models=models, history=self.experiment.history, variables=place.variables
        )
        start = time.monotonic()
        outcome: Outcome | GreenloopError
        try:
            outcome = await refine.refine(request, settings=settings, emit=emit, pool=pool, harness=harness)
        except GreenloopError as error:
            outcome = error
        except Exception as error:  # noqa: BLE001 - a fault in one part must cost one task-run, not the whole experiment
            outcome = GreenloopError(f"This should not have happened: {_describe_error(error)}")
        seconds = time.monotonic() - start
        ids = {"arm": arm.name, "task": task.id, "repeat": repeat}
        run = {
            "kind": "run",
            **ids,
            **arm_fields,
            "model": models.name_of(Role.DRAFTER),
            "digest": task.digest,
            "task_kind": task.kind,
            "operators": list(task.operators),
            "version": __version__,
            "effective": results.effective_settings(settings),
            "calls": meter.calls,
            "hits": meter.hits,
            "wall_seconds": round(seconds + meter.saved, 3),
        }
        if isinstance(outcome, GreenloopError):
            message = f"{outcome} {outcome.remedy}".strip()
            return TaskRunResult(run={**run, **results.empty_fields(), "reason": "error", "message": message})
        judge = Judge(task=task, root=place.root, settings=settings, pool=pool, variables=place.variables)
        attempts = await results.attempt_rows(outcome, problem, judge)
        # A blind arm does not use the tests, so its last candidate counts.
        has_result = outcome.solved or arm.preset.blind
        final = await judge(outcome.after) if has_result and outcome.after else None
        run |= results.outcome_fields(outcome, final, len(task.cases))
        run["asked_right"] = results.asked_right(outcome, problem, task.functions)
        run["place"] = results.place_of(problem, task.functions)
        run["overhead_seconds"] = round(seconds - meter.waited - outcome.usage.test_seconds, 3)
        return TaskRunResult(run=run, attempts=[{"kind": "attempt", **ids, **row} for row in attempts])


def _describe_error(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"


def _with_attempts(arm: Arm, attempts: int) -> Arm:
    return replace(arm, settings={**arm.settings, "attempts": attempts})


def _comparable_fields(fields: Mapping[str, Any], arm: Arm) -> tuple[Any, ...]:
    """The fields by which two task-runs of an arm are compared; a matching arm's attempts depend on another arm."""
    settings = dict(fields["settings"])
    if arm.match:
        settings.pop("attempts", None)
    return fields["preset"], fields.get("parts", {}), settings, fields.get("goal", "")
