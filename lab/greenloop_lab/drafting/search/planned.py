"""Code from a plan, refinements that keep to it, and the next plan where one is stuck.

After LPW and SLPW (arXiv 2411.14503), which give up a plan whose program cannot be repaired. The plans are the field
`plans` of the note on the user's own code; each goes with the requests as the draft's `hint`. Without plans it
searches as `restart_on_repeat` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import refine_or_restart

REPAIRS = 4  # refinements of one plan's code, as long as another plan waits


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:  # noqa: ARG001
    """A draft for a plan, refinements of its best code; a restart without a plan when all of them were tried."""
    plans = list_plans(attempts)
    waiting = [each for each in plans if not any(each == _hint(attempt) for attempt in attempts)]
    if not attempts[-1].number:
        return [_draft(plans, waiting)]
    own = _attempts_of_plan(attempts) if _hint(attempts[-1]) in plans else list(attempts)
    drafts = refine_or_restart(own)
    is_stuck = not drafts or drafts[0].move is Move.RESTART or len(own) - 2 >= REPAIRS
    if is_stuck and waiting:
        return [_draft(plans, waiting)]
    return [_with_plan(draft, _hint(attempts[draft.parent]), plans) for draft in drafts]


def list_plans(attempts: Sequence[Attempt]) -> list[str]:
    """The plans in the notes on the user's own code."""
    named = (note.fields.get("plans") for note in attempts[0].notes)
    return [str(each) for plans in named if isinstance(plans, list | tuple) for each in plans]


def _draft(plans: Sequence[str], waiting: Sequence[str]) -> Draft:
    """A draft for the first plan that waits, labelled where there are several; a plain one without any."""
    plain = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
    if not waiting:
        return plain
    label = f"plan {plans.index(waiting[0]) + 1}" if len(plans) > 1 else ""
    return replace(plain, hint=waiting[0], label=label, prompt="planned")


def _attempts_of_plan(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The user's own code and the attempts from the newest draft on."""
    start = max(attempt.number for attempt in attempts if attempt.draft and attempt.draft.move is Move.DRAFT)
    return [attempts[0], *attempts[start:]]


def _with_plan(draft: Draft, hint: str, plans: Sequence[str]) -> Draft:
    """A refinement keeps to the plan that the refined code follows."""
    if draft.move is not Move.REFINE or hint not in plans:
        return draft
    return replace(draft, hint=hint, prompt="refine_planned")


def _hint(attempt: Attempt) -> str:
    return attempt.draft.hint if attempt.draft else ""
