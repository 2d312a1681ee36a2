"""Measures the task-runs of one task: lays it out, opens its sandbox, runs each arm and judges every candidate.

It must not know where the results go, nor on which machine it runs.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from greenloop import __version__
from greenloop.core.aims import Aim, find_aim
from greenloop.core.errors import GreenloopError
from greenloop.core.events import Event, Started
from greenloop.core.ports import Model
from greenloop.core.records.model import Role
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.engine import refine, sandbox_spec
from greenloop.models import roles
from greenloop.models.roles import Models
from greenloop.project import sources
from greenloop.project.settings import Settings
from greenloop_lab.bench import results
from greenloop_lab.bench.hidden_tests import Judge
from greenloop_lab.bench.history import tree as history_tree
from greenloop_lab.bench.oracle import Oracle
from greenloop_lab.bench.plans import Arm, settings_for
from greenloop_lab.bench.recordings import (
    ORACLE,
    REFERENCE,
    Answers,
    Meter,
    RecordedModel,
    Reference,
    wrap_model,
)
from greenloop_lab.bench.results import TaskRunResult
from greenloop_lab.bench.task_folder import Place, lay_out_task
from greenloop_lab.bench.tasks import Task
from greenloop_sandbox import SandboxPool

TaskRun = tuple[Arm, Task, int]


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """The same for all task-runs of an experiment. `settings` by dotted key apply to all arms; `model` replaces theirs.

    `user_settings` are those of the user's own file and environment, where the task-runs happen on another machine.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    user_settings: Mapping[str, Any] = field(default_factory=dict)
    history: Path | None = None
    model: Model | None = None
    goal: str | None = None

    def arm_fields(self, arm: Arm) -> dict[str, Any]:
        """The fields of a task-run that describe its arm."""
        goal = {"goal": self.goal} if self.goal else {}
        settings = {**self.settings, **arm.settings}
        return {"preset": arm.preset.name, "parts": arm.recorded_parts, "settings": settings, **goal}

    def settings_of(self, arm: Arm, task: Task) -> Settings:
        own = {"interpreter": task.interpreter, "spec.constraints": list(task.constraints)}
        table = {**self.user_settings, **self.arm_fields(arm)["settings"], "preset": arm.preset.name}
        table |= {key: value for key, value in own.items() if value}
        folder = Path(task.folder) if task.folder else None
        settings = settings_for(table, folder)
        if not task.commit or folder is None:
            return settings
        return history_tree.settings_of(settings, history_tree.find_interpreter(folder, settings))


class Measurement:
    """Owns the models, which stay open from one task to the next."""

    def __init__(
        self, conditions: Conditions, report_status: Callable[[str], None] = sandbox_spec.ignore_status
    ) -> None:
        self.conditions = conditions
        self.report_status = report_status
        self.models: dict[str, Model] = {}

    async def close(self) -> None:
        for model in self.models.values():
            await model.close()

    async def run_task(self, runs: Sequence[TaskRun], answers: Answers) -> AsyncGenerator[TaskRunResult, None]:
        """Yields the results of these task-runs of one task, one after the other."""
        first_arm, task, _repeat = runs[0]
        pool = SandboxPool()
        judges: dict[str, Judge] = {}
        with TemporaryDirectory(prefix="greenloop-bench-") as name:
            settings = self.conditions.settings_of(first_arm, task)
            place = lay_out_task(task, Path(name), settings)

            def judge_of(settings: Settings) -> Judge:
                """The same judge for all arms whose tests run alike, so that what they all wrote is run once."""
                key = repr((settings.interpreter, settings.sandbox, settings.suite))
                if key not in judges:
                    judges[key] = Judge(
                        task=task,
                        root=place.root,
                        settings=settings,
                        pool=pool,
                        variables=place.variables,
                        report_status=self.report_status,
                    )
                return judges[key]

            try:
                # The sandbox is opened before the first arm, for all alike; an editor does not wait for it either.
                await refine.warm(place.root, settings, pool, place.variables)
                for arm, _task, repeat in runs:
                    yield await self._measure((arm, task, repeat), place, pool, answers, judge_of)
            finally:
                await pool.close()

    def _make_models(
        self, task: Task, place: Place, settings: Settings, answers: Answers, meter: Meter, repeat: int, name: str
    ) -> Models:
        """The models of one run, each behind the recordings."""

        def recorded(model: Model) -> RecordedModel:
            return wrap_model(model, answers, meter, repeat=repeat)

        def opener(name: str, settings: Settings) -> Model:
            key = f"{name} {settings.api} {settings.plugins}"
            if key not in self.models:
                self.models[key] = roles.open_model(name, settings)
            return recorded(self.models[key])

        def own_text(path: str) -> str | None:
            return task.files.get(path) or sources.read_text(place.root, path)

        override = self.conditions.model
        if name == ORACLE:
            override = Oracle(task, own_text)
        elif name == REFERENCE:
            override = Reference(task)
        return Models(settings=settings, override=recorded(override) if override else None, factory=opener)

    async def _measure(
        self,
        task_run: TaskRun,
        place: Place,
        pool: SandboxPool,
        answers: Answers,
        judge_of: Callable[[Settings], Judge],
    ) -> TaskRunResult:
        arm, task, repeat = task_run
        settings, arm_fields = self.conditions.settings_of(arm, task), self.conditions.arm_fields(arm)
        if task.commit:
            settings = history_tree.show_test_data(settings, place.root)
        meter = Meter()
        name = arm_fields["settings"].get("model", "")
        models = self._make_models(task, place, settings, answers, meter, repeat, name)
        problem: Problem | None = None

        def emit(event: Event) -> None:
            nonlocal problem
            if isinstance(event, Started):
                problem = event.problem

        buffers = {path: text.encode() for path, text in task.files.items()} if task.folder else {}
        goal = self.conditions.goal
        request = refine.RefineRequest(root=place.root, target=task.target, buffers=buffers, aim=_aim(goal, task.calls))
        harness = refine.Harness(
            preset=arm.preset, models=models, history=self.conditions.history, variables=place.variables
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
        run = self._fields(
            task_run,
            settings,
            model=models.name_of(Role.DRAFTER),
            calls=meter.calls,
            hits=meter.hits,
            wall_seconds=round(seconds + meter.saved, 3),
        )
        if isinstance(outcome, GreenloopError):
            message = f"{outcome} {outcome.remedy}".strip()
            return TaskRunResult(run={**run, **results.empty_fields(), "reason": "error", "message": message})
        judge = judge_of(settings)
        attempts = await results.attempt_rows(outcome, problem, judge)
        # A blind arm does not use the tests, so its last candidate counts.
        has_result = outcome.solved or arm.preset.blind
        final = await judge(outcome.after) if has_result and outcome.after else None
        run |= results.outcome_fields(outcome, final, len(task.cases))
        run["history"] = outcome.run
        run["asked_right"] = results.asked_right(outcome, problem, task.functions)
        run["place"] = results.place_of(problem, task.functions)
        run["overhead_seconds"] = round(seconds - meter.waited - outcome.usage.test_seconds, 3)
        return TaskRunResult(run=run, attempts=[{"kind": "attempt", **_ids(task_run), **row} for row in attempts])

    def _fields(
        self, task_run: TaskRun, settings: Settings, *, model: str, calls: int, hits: int, wall_seconds: float
    ) -> dict[str, Any]:
        arm, task, _repeat = task_run
        return {
            "kind": "run",
            **_ids(task_run),
            **self.conditions.arm_fields(arm),
            "model": model,
            "digest": task.digest,
            "task_kind": task.kind,
            "operators": list(task.operators),
            "version": __version__,
            "effective": results.effective_settings(settings),
            "calls": calls,
            "hits": hits,
            "wall_seconds": wall_seconds,
        }


def _ids(task_run: TaskRun) -> dict[str, Any]:
    arm, task, repeat = task_run
    return {"arm": arm.name, "task": task.id, "repeat": repeat}


def _describe_error(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"


def _aim(goal: str | None, calls: str) -> Aim | None:
    """The aim of a goal, measured by these calls, one in each line (empty: by the tests)."""
    aim = find_aim(goal)
    return None if aim is None else replace(aim, options={**aim.options, "calls": calls})
