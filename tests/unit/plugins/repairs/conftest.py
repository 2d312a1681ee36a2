"""The attempt that a change is made for."""

from __future__ import annotations

import pytest

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.verdict import Status, Verdict
from greenloop_sandbox import CaseResult, Failure


@pytest.fixture
def failing():
    """Makes the user's attempt: a case fails for each failure, of this kind, and one more passes where `others` is set."""

    def make(
        *failures: tuple[str, str | None, str | None], others: bool = True, kind: str = "Error", text: str = ""
    ) -> Attempt:
        cases = [
            CaseResult(
                id=str(number),
                outcome="failed",
                failure=Failure(type=kind, message=message, expected=expected, observed=observed, text=text),
            )
            for number, (message, expected, observed) in enumerate(failures)
        ]
        cases += [CaseResult(id="passing", outcome="passed")] if others else []
        return Attempt(number=0, verdict=Verdict(status=Status.FAILED, cases=tuple(cases)))

    return make
