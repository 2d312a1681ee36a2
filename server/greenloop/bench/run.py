"""Runs arms over tasks, one task-run at a time: the model is the bottleneck, and what is measured is time too.

All arms meet a task one after another, so that what is there after a kill can be compared.
It must not know how figures are made of the records.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from greenloop import __version__, engine, registry, sources
from greenloop.bench import reference, results
from greenloop.bench.arms import Arm, settings_for
from greenloop.bench.judge import WRONG, Judge, Judgement
from greenloop.bench.recordings import Recordings, Shared, shared
from greenloop.bench.results import Done, Key
from greenloop.bench.tasks import Task
from greenloop.core.compose import compose
from greenloop.core.errors import GreenloopError, UsageProblem
from greenloop.core.events import Event, Started
from greenloop.core.loop import CHEAP, asked
from greenloop.core.nouns import Attempt, Outcome, Problem, Role, Status, StopReason, Verified
from greenloop.core.ports import Model
from greenloop.keeper import Keeper
from greenloop.roles import Models
from greenloop.settings import Settings

# A task-run that ended so is no result: the same command tries it again.
BROKEN = {StopReason.MODEL.value, StopReason.ENVIRONMENT.value, StopReason.CHANGED.value, "error"}
# After so many of them in a row something is wrong with the machine, not with the tasks.
GIVE_UP = 3


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is measured. `settings` by dotted key hold for all arms; `model` stands for the one they name."""

    tasks: Sequence[Task]
    arms: Sequence[Arm]
    out: Path
    answers: Path
    repeats: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    history: Path | None = None
    model: Model | None = None


async def run(experiment: Experiment, say: Callable[[str], None]) -> list[Done]:
    """What is not yet in the file of results; returns all task-runs of these arms, tasks and repeats.

    Raises `UsageProblem` where the file has an arm or task of the same name that is another, `GreenloopError` where
    nothing can be measured.
    """
    return await _Bench(experiment, say).all()


class _Bench:
    """Owns the models, the recordings and what is done."""

    def __init__(self, experiment: Experiment, say: Callable[[str], None]) -> None:
        self.experiment = experiment
        self.say = say
        self.recordings = Recordings(experiment.answers)
        self.done: dict[Key, Done] = {done.key: done for done in results.read([experiment.out], missing=True)}
        self.models: dict[str, Models] = {}
        self.broken = 0

    async def all(self) -> list[Done]:
        experiment = self.experiment
        wanted = []
        try:
            for arms in _stages(experiment.arms):
                limited = [self.matched(arm) for arm in arms]
                keys = [
                    (arm, task, repeat)
                    for task in experiment.tasks
                    for repeat in range(experiment.repeats)
                    for arm in limited
                ]
                self._same(keys)
                for number, task in enumerate(experiment.tasks, 1):
                    mine = [key for key in keys if key[1] is task and self._open(key)]
                    if mine:
                        await self._task(task, mine, f"{number}/{len(experiment.tasks)}")
                wanted += [(arm.name, task.id, repeat) for arm, task, repeat in keys]
        finally:
            for models in self.models.values():
                await models.close()
        return [self.done[key] for key in wanted if key in self.done]

    def matched(self, arm: Arm) -> Arm:
        """With as many attempts as the arm that it matches made calls in the mean."""
        if not arm.match:
            return arm
        tasks = {task.id for task in self.experiment.tasks}
        calls = [d.run["calls"] for d in self.done.values() if d.run["arm"] == arm.match and d.run["task"] in tasks]
        mean = sum(calls) / len(calls) if calls else 1
        return replace(arm, settings={**arm.settings, "attempts": max(1, round(mean))})

    def _open(self, key: tuple[Arm, Task, int]) -> bool:
        arm, task, repeat = key
        done = self.done.get((arm.name, task.id, repeat))
        return done is None or done.run["reason"] in BROKEN

    def _same(self, keys: Sequence[tuple[Arm, Task, int]]) -> None:
        for arm, task, repeat in keys:
            if (done := self.done.get((arm.name, task.id, repeat))) is None:
                continue
            what = ""
            if done.run["settings"] != self._told(arm) or done.run["preset"] != arm.preset:
                what = f"the arm '{arm.name}' with other settings"
            elif done.run["digest"] != task.digest:
                what = f"another task of the name '{task.id}'"
            if what:
                raise UsageProblem(
                    f"{self.experiment.out} has {what}.", remedy="Write to another file with --out, or remove this one."
                )

    def _told(self, arm: Arm) -> dict[str, Any]:
        return {**self.experiment.settings, **arm.settings}

    async def _task(self, task: Task, keys: Sequence[tuple[Arm, Task, int]], place: str) -> None:
        keeper = Keeper()
        with TemporaryDirectory(prefix="greenloop-bench-") as name:
            root = laid(task, Path(name))
            try:
                # Nobody waits for a sandbox in an editor either: it is open before the first arm, for all alike.
                await engine.warm(root, self._settings(keys[0][0], task, root), keeper)
                for arm, _task, repeat in keys:
                    done = await self._measured(task, arm, repeat, root, keeper)
                    results.append(self.experiment.out, done)
                    self.done[done.key] = done
                    self.say(f"{place} {task.id} {arm.name}: {_word(done)}")
                    self._patience(done)
            finally:
                await keeper.close()

    def _patience(self, done: Done) -> None:
        self.broken = self.broken + 1 if done.run["reason"] in BROKEN else 0
        if self.broken == GIVE_UP:
            raise GreenloopError(
                f"{GIVE_UP} task-runs in a row came to nothing; the last: {done.run['message']}",
                remedy="Mend that; the same command goes on from here.",
            )

    def _settings(self, arm: Arm, task: Task, root: Path) -> Settings:
        table = self._told(arm) | {"preset": arm.preset}
        return settings_for(table, root if task.folder else None)

    async def _model(self, task: Task, settings: Settings, *, known: bool) -> Shared:
        if self.experiment.model is not None:
            return shared(dict.fromkeys(Role, self.experiment.model), self.recordings)
        if known:
            return shared(dict.fromkeys(Role, reference.Reference(task)), self.recordings)
        models = self.models.setdefault(repr(settings), Models(settings=settings))
        return shared({role: await models.of(role) for role in Role}, self.recordings)

    async def _measured(self, task: Task, arm: Arm, repeat: int, root: Path, keeper: Keeper) -> Done:
        settings = self._settings(arm, task, root)
        model = await self._model(task, settings, known=self._told(arm).get("model") == reference.NAME)
        model.begin(repeat)
        problem: list[Problem] = []

        def emit(event: Event) -> None:
            if isinstance(event, Started):
                problem.append(event.problem)

        buffers = {path: text.encode() for path, text in task.files.items()} if task.folder else {}
        request = engine.Request(root=root, target=task.target, buffers=buffers)
        began = time.monotonic()
        outcome: Outcome | GreenloopError
        try:
            outcome = await engine.refine(
                request,
                settings=settings,
                emit=emit,
                model=model,
                keeper=keeper,
                harness=True,
                history=self.experiment.history,
            )
        except GreenloopError as error:
            outcome = error
        seconds = time.monotonic() - began
        judge = Judge(task=task, root=root, settings=settings, keeper=keeper)
        head = {"arm": arm.name, "task": task.id, "repeat": repeat}
        told = {
            "kind": "run",
            **head,
            "preset": arm.preset,
            "settings": self._told(arm),
            "model": model.name,
            "digest": task.digest,
            "task_kind": task.kind,
            "operators": list(task.operators),
            "version": __version__,
            "calls": model.calls,
            "hits": model.hits,
            "wall_seconds": round(seconds + model.saved, 3),
        }
        if isinstance(outcome, GreenloopError):
            why = f"{outcome} {outcome.remedy}".strip()
            return Done(run={**told, **_nothing(), "reason": "error", "message": why})
        attempts = await _attempts(outcome, problem, judge)
        # An arm that does not look at the tests hands over what it wrote last.
        offered = outcome.solved or registry.preset(arm.preset, harness=True).blind
        final = await judge(outcome.after) if offered and outcome.after else None
        told |= _figures(outcome, final, len(task.cases))
        told["overhead_seconds"] = round(seconds - model.waited - outcome.usage.test_seconds, 3)
        return Done(run=told, attempts=[{"kind": "attempt", **head, **row} for row in attempts])


def laid(task: Task, folder: Path) -> Path:
    """Where the engine works: the user's folder as it is, or a new one with the task's files."""
    if task.folder:
        root = Path(task.folder)
        for path, text in task.solution.items():
            if sources.text(root, path) != text:
                raise UsageProblem(
                    f"{root / path} is not what it was when {task.id} was made of it.", remedy="Make the tasks anew."
                )
        return root
    root = folder / "project"
    for path, text in task.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def _stages(arms: Sequence[Arm]) -> list[list[Arm]]:
    """Arms that match others need those others' results."""
    return [stage for stage in ([a for a in arms if not a.match], [a for a in arms if a.match]) if stage]


async def _attempts(outcome: Outcome, problem: Sequence[Problem], judge: Judge) -> list[dict[str, Any]]:
    rows = []
    for attempt in outcome.attempts:
        judged = None
        if attempt.candidate is not None and problem:
            failed = attempt.verdict.status is Status.FAILED and attempt.draft and attempt.draft.move in CHEAP
            # They are many, and what fails by the shown tests is wrong.
            judged = WRONG if failed else await judge(compose(problem[0], attempt.candidate))
        rows.append(_attempt(attempt, judged))
    return rows


def _attempt(attempt: Attempt, judged: Judgement | None) -> dict[str, Any]:
    verdict, usage, draft = attempt.verdict, attempt.usage, attempt.draft
    return {
        "number": attempt.number,
        "parent": attempt.parent,
        "move": draft.move.value if draft else "",
        "role": draft.role.value if draft else "",
        "temperature": draft.temperature if draft else None,
        "model": attempt.model,
        "status": verdict.status.value,
        "error_class": attempt.error_class,
        "group": attempt.group.value if attempt.group else "",
        "score": round(verdict.score, 4),
        "passed": verdict.passed,
        "total": verdict.total,
        "reason": verdict.reason,
        "accepted": attempt.accepted,
        "confidence": attempt.confidence,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost": usage.cost,
        "model_seconds": round(usage.model_seconds, 3),
        "test_seconds": round(usage.test_seconds, 3),
        "right": judged.right if judged else None,
        "judge_passed": judged.passed if judged and judged.total else None,
        "judge_total": judged.total if judged and judged.total else None,
        "answer": attempt.answer[:LONGEST],
    }


# Characters of an answer that are kept beside its figures; the whole of it is among the recordings.
LONGEST = 4_000


def _figures(outcome: Outcome, final: Judgement | None, total: int) -> dict[str, Any]:
    usage = outcome.usage
    sure = [attempt.confidence for attempt in outcome.attempts if attempt.confidence is not None]
    return {
        "right": final is not None and final.right,
        "shown_passed": outcome.solved or (final is not None and final.shown),
        "judge_passed": final.passed if final else 0,
        "judge_total": total,
        "verified": outcome.verified.value,
        "reason": outcome.reason.value,
        "message": outcome.message,
        "attempts": asked(outcome.attempts),
        "candidates": max(len(outcome.attempts) - 1, 0),
        "best": outcome.best,
        "at": asked(outcome.attempts[: (outcome.best or 0) + 1]),
        "confidence": sure[-1] if sure else None,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost": usage.cost,
        "model_seconds": round(usage.model_seconds, 3),
        "test_seconds": round(usage.test_seconds, 3),
    }


def _nothing() -> dict[str, Any]:
    reason = StopReason.ENVIRONMENT
    blank = Outcome(solved=False, verified=Verified.UNVERIFIED, reason=reason, message="", attempts=())
    return _figures(blank, None, 0) | {"overhead_seconds": 0.0}


def _word(done: Done) -> str:
    run = done.run
    if run["right"]:
        word = "solved"
    elif run["shown_passed"]:
        word = f"over-fit ({run['judge_passed']}/{run['judge_total']})"
    elif run["reason"] in BROKEN:
        word = f"came to nothing: {run['message']}"
    else:
        word = f"not solved ({run['reason']})"
    return f"{word}, {run['attempts']} attempts, {run['wall_seconds']:.1f} s"
