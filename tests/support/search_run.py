"""Attempts as a search sees them, made up step by step."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop_sandbox import CaseResult, Failure

PROBLEM = Problem(root=Path("/w"), spec=Spec(cases=(), selectors=()), regions=(), originals={}, files={})


def failed(score: float, message: str = "", kind: str = "AssertionError") -> Verdict:
    """Ten cases of which this share passed."""
    failure = Failure(type=kind, message=message)
    passed = round(10 * score)
    return Verdict(
        status=Status.FAILED,
        cases=tuple(
            CaseResult(id=str(n), outcome="passed" if n < passed else "failed", failure=None if n < passed else failure)
            for n in range(10)
        ),
    )


class Run:
    """Attempts as the loop would make them of a strategy's drafts; every failure is another one unless it is named."""

    def __init__(self, plan, **fields) -> None:
        self.plan = plan
        self.attempts = [
            Attempt(number=0, verdict=failed(0, "your own"), notes=(FeedbackNote(text="", fields=fields),))
        ]
        self.round: list[Draft] = []

    def next(self) -> Draft | None:
        """What is tried next; None where the strategy has nothing left."""
        if not self.round:
            self.round = list(self.plan(PROBLEM, self.attempts))
        return self.round[0] if self.round else None

    def ends(self, share: float, message: str | None = None, /, **fields) -> Run:
        """The next attempt, which fails with this share of tests passed and this note."""
        draft = self.next()
        assert draft is not None
        self.round.pop(0)
        number = len(self.attempts)
        message = f"failure {number}" if message is None else message
        self.attempts.append(
            Attempt(
                number=number,
                parent=draft.parent,
                draft=draft,
                candidate=Candidate(texts={}),
                verdict=failed(share, message),
                error_class="AssertionError",
                group=ErrorGroup.LOGIC,
                notes=(FeedbackNote(text="", fields=fields),),
            )
        )
        return self

    def refused(self, error_class: str) -> Run:
        draft = self.next()
        assert draft is not None
        self.round.pop(0)
        self.attempts.append(
            Attempt(
                number=len(self.attempts),
                parent=draft.parent,
                draft=draft,
                verdict=Verdict(status=Status.REFUSED),
                error_class=error_class,
                group=ErrorGroup.SYNTAX if error_class == "SyntaxError" else ErrorGroup.ANSWER,
            )
        )
        return self

    @property
    def temperatures(self) -> list[float]:
        return [attempt.draft.temperature for attempt in self.attempts if attempt.draft]

    @property
    def parents(self) -> list[int | None]:
        return [attempt.parent for attempt in self.attempts[1:]]
