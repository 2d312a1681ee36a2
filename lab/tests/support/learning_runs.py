"""Stored runs of `double` that others can learn from: a chain that ends well, and what was refused on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from double_problem import BASELINE, HALF, PROBLEM, RIGHT, WRONG, judge_files, make_answer
from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote, Finding, Move, Sent
from greenloop.core.records.model import Message, Role
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop.core.text.json_codec import to_json
from greenloop.engine.history.rows import store_problem
from greenloop.engine.history.store import History
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.records import Gain

REGION = PROBLEM.regions[0]
SENT = (Message(role="system", content="You write Python."), Message(role="user", content="Write double."))
BODY = 'def double(x):\n    """Twice x."""\n    return {}\n'


def attempt(
    number: int,
    expression: str,
    *,
    parent: int | None = None,
    move: Move = Move.REFINE,
    messages: bool = False,
    plan: str = "",
) -> Attempt:
    """An attempt that returns this expression, with the verdict that its tests come to."""
    parent = number - 1 if parent is None else parent
    candidate = Candidate(texts={REGION: BODY.format(expression)})
    verdict = judge_files(compose(PROBLEM, candidate))
    passed = verdict.status is Status.PASSED
    asked = move not in (Move.MUTATE, Move.MERGE)
    return Attempt(
        number=number,
        parent=parent,
        verdict=verdict,
        draft=Draft(parent=parent, move=move, role=Role.REFINER, hint=plan),
        model="scripted" if asked else "",
        answer=make_answer(expression) if asked else "",
        candidate=candidate,
        error_class="" if passed else "AssertionError",
        group=None if passed else ErrorGroup.LOGIC,
        notes=() if passed else (FeedbackNote(text=f"double gave {expression}."),),
        sent=Sent(templates={"system": "0123456789ab"}, messages=SENT if messages else ()) if asked else None,
        accepted=passed,
    )


def unclean(number: int) -> Attempt:
    """An attempt that the gate refused for a name that nobody defines."""
    finding = Finding(error_class="UndefinedName", message="name `y` is not defined.")
    return replace(
        attempt(number, "x * 2"),
        candidate=Candidate(texts={REGION: BODY.format("y * 2")}),
        verdict=Verdict(status=Status.REFUSED, reason=finding.message),
        finding=finding,
        error_class=finding.error_class,
        group=ErrorGroup.RUNTIME,
        notes=(),
        accepted=False,
    )


def refused(number: int, expression: str = RIGHT) -> Attempt:
    """An attempt whose tests pass, and whose acceptance did not."""
    passing = attempt(number, expression)
    verdict = replace(passing.verdict, status=Status.TAMPERED, reason="The tests do not fail as they must.")
    return replace(passing, verdict=verdict, accepted=False, refused=True, error_class="Tampered", notes=())


def measured(number: int, ratio: float, *, accepted: bool) -> Attempt:
    """An attempt that passes and costs this share of the user's code."""
    gain = Gain(goal=Goal.TIME, before=1.0, after=ratio, ratio=ratio, low=ratio, high=ratio, pairs=9)
    passing = attempt(number, RIGHT if accepted else "x + x", parent=0)
    return replace(passing, verdict=replace(passing.verdict, data={"improve": to_json(gain)}), accepted=accepted)


def chain(*, messages: bool = False) -> list[Attempt]:
    """Wrong, half right, right."""
    return [BASELINE, attempt(1, WRONG[0], messages=messages, plan="Add one."), attempt(2, HALF), attempt(3, RIGHT)]


def add_run(
    history: History,
    attempts: list[Attempt],
    *,
    root: Path = PROBLEM.root,
    verified: Verified = Verified.VERIFIED,
    goal: str = "",
    target: str = "test_m.py::test_five",
) -> int:
    """Stores a run that has ended; it is solved where an attempt was accepted."""
    run = history.start_run(root, target, preset="plain", model="scripted:a", sandbox="bubblewrap")
    assert run is not None
    history.save_problem(run, store_problem(replace(PROBLEM, instruction="Twice, please."), goal))
    solved = any(each.accepted for each in attempts)
    history.finish_run(
        run,
        Outcome(
            solved=solved,
            verified=verified if solved else Verified.UNVERIFIED,
            reason=StopReason.SOLVED if solved else StopReason.ATTEMPTS,
            message="",
            attempts=tuple(attempts),
            best=attempts[-1].number,
            run=run,
        ),
    )
    return run
