"""One row for each run, with all its attempts: plan, request, answer, error, edit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop_lab.engine.history.formats._row import Message, Row, Template, column, head, template_hashes
from greenloop_lab.engine.history.trajectories import Step, Trajectory
from greenloop_lab.engine.history.trajectory_texts import code_of, problem_of


@dataclass(frozen=True, kw_only=True)
class AttemptRow:
    """An attempt; number 0 is the user's own code."""

    attempt: int = column("its number")
    parent: int | None = column("the attempt that it changes; null for attempt 0")
    move: str = column("draft, refine, restart, infill, mutate or merge; the last two ask no model")
    role: str = column("the role of the model")
    model: str = column("the model that answered")
    temperature: float | None = column("of its sampling")
    plan: str = column("the strategy, plan or reflection that it was to follow")
    templates: tuple[Template, ...] = column("the templates of its prompt")
    messages: tuple[Message, ...] = column("the request as sent; empty without the setting history.messages")
    answer: str = column("the answer of the model")
    code: str = column("the functions as it leaves them, with its imports and helpers")
    feedback: str = column("what the next attempt was told of it")
    error_class: str = column("its error, such as AssertionError")
    error_group: str = column("the coarse kind of the error")
    status: str = column("how its run ended; refused: it was not run")
    score: float = column("the share of the tests that passed")
    passed: int = column("tests that passed")
    total: int = column("tests that count")
    time: float | None = column("its share of the cost of the user's code; null: not measured")
    accepted: bool = column("it passed again in a fresh sandbox, with all proofs")
    refused_by: str = column("tests, acceptance or judge; empty: nothing refused it")
    right: bool | None = column("the verdict of the harness's hidden tests; null: not judged")


@dataclass(frozen=True, kw_only=True)
class TrajectoryRow(Row):
    """A run with its attempts."""

    problem: str = column("the problem in words, with the user's code")
    reason: str = column("why the run ended")
    attempts: tuple[AttemptRow, ...] = column("in order")


ROW = TrajectoryRow


def rows(run: Trajectory) -> Iterator[TrajectoryRow]:
    if not any(step.number for step in run.steps):
        return
    errors = Counter(step.error_class for step in run.steps if step.number and step.error_class)
    error = errors.most_common(1)[0][0] if errors else ""
    yield TrajectoryRow(
        **head(run, "trajectory", error),
        problem=problem_of(run),
        reason=run.reason,
        attempts=tuple(_attempt_row(run, step) for step in run.steps),
    )


def _attempt_row(run: Trajectory, step: Step) -> AttemptRow:
    return AttemptRow(
        attempt=step.number,
        parent=step.parent,
        move=step.move,
        role=step.role,
        model=step.model,
        temperature=step.temperature,
        plan=step.plan,
        templates=template_hashes(step),
        messages=step.messages,
        answer=step.answer,
        code=code_of(run, step) if step.code or not step.number else "",
        feedback=step.feedback,
        error_class=step.error_class,
        error_group=step.group,
        status=step.status,
        score=step.score,
        passed=step.passed,
        total=step.total,
        time=step.time,
        accepted=step.accepted,
        refused_by=step.refused_by,
        right=step.right,
    )
