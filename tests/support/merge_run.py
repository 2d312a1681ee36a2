"""Answers to a search that merges, each of which passes some of four cases."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop_sandbox import CaseResult

PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=(), originals={}, files={})
F = Region(path="m.py", qualname="f", start=1, end=2)


def verdict(passed: str) -> Verdict:
    """Of four cases, those of these letters pass."""
    cases = tuple(CaseResult(id=name, outcome="passed" if name in passed else "failed") for name in "abcd")
    return Verdict(status=Status.FAILED, cases=cases)


def plan_next(plan, *passed: str) -> list[Draft]:
    """The drafts after answers that pass these cases; merges without a model bring nothing."""
    attempts, waiting = [Attempt(number=0, verdict=verdict(""))], list(passed)
    while drafts := list(plan(PROBLEM, attempts)):
        for draft in drafts:
            number = len(attempts)
            if draft.move is Move.MERGE:
                no_gain = Verdict(status=Status.REFUSED)
                attempts.append(Attempt(number=number, parent=draft.parent, draft=draft, verdict=no_gain))
            elif waiting:
                candidate = Candidate(texts={F: f"def f(): {number}\n"})
                result = verdict(waiting.pop(0))
                attempts.append(
                    Attempt(number=number, parent=draft.parent, draft=draft, candidate=candidate, verdict=result)
                )
            else:
                return drafts
    return []


def steps_after_samples(plan) -> tuple[bool, str]:
    """Are two samples that pass different cases merged without a model, and the template that is asked with next."""
    attempts = [Attempt(number=0, verdict=verdict(""))]
    for draft, passed in zip(plan(PROBLEM, attempts), ["a", "b", "", ""], strict=True):
        number = len(attempts)
        candidate = Candidate(texts={F: f"def f(): {number}\n"})
        attempts.append(Attempt(number=number, parent=0, draft=draft, candidate=candidate, verdict=verdict(passed)))
    (asked,) = plan_next(plan, "a", "b", "", "")
    return Move.MERGE in [each.move for each in plan(PROBLEM, attempts)], asked.prompt
