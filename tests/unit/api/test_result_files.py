"""Which results may be written without review."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.api.result_files import may_write, plan_change
from greenloop.core.errors import WorkspaceError
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


@pytest.mark.parametrize(("data", "written"), [(None, True), (b"\n", True), (b"mine = 1\n", False)])
def test_a_new_file_may_be_there_empty(data, written):
    """An editor that cannot create files gets an empty one from its user."""
    result = replace(outcome(Verified.VERIFIED), after={"m.py": "x = 1\n"})
    if written:
        assert plan_change("m.py", result, data).new == b"x = 1\n"
    else:
        with pytest.raises(WorkspaceError, match=r"m\.py appeared during the run"):
            plan_change("m.py", result, data)
