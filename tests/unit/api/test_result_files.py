"""Which results may be written without review."""

from __future__ import annotations

import pytest

from greenloop.api.result_files import may_write
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified


def outcome(verified: Verified, *, solved: bool = True, warnings: tuple[str, ...] = ()) -> Outcome:
    evidence = Evidence(warnings=warnings)
    return Outcome(
        solved=solved, verified=verified, reason=StopReason.SOLVED, message="", attempts=(), evidence=evidence
    )


@pytest.mark.parametrize(
    ("result", "accept", "written"),
    [
        (outcome(Verified.VERIFIED), (), True),
        (outcome(Verified.VERIFIED, solved=False), (), False),
        (outcome(Verified.VERIFIED, warnings=("It newly imports os.",)), (), False),
        (outcome(Verified.VERIFIED, warnings=("It newly imports os.",)), ("warned",), True),
        (outcome(Verified.PARTIALLY), (), False),
        (outcome(Verified.PARTIALLY), ("partial",), True),
        (outcome(Verified.UNVERIFIED), ("partial",), False),
        (outcome(Verified.UNVERIFIED), ("unverified",), True),
    ],
    ids=[
        "verified",
        "unsolved",
        "warning",
        "warning accepted",
        "partial",
        "partial accepted",
        "no sandbox",
        "accepted",
    ],
)
def test_a_result_is_written_as_the_user_accepts_it(result, accept, written):
    assert may_write(result, accept) is written
