"""Defines the exit codes, and the one for each outcome."""

from __future__ import annotations

from collections.abc import Collection

from greenloop.api.result_files import may_write
from greenloop.core.records.outcome import Outcome, StopReason

VERIFIED = 0
NOT_SOLVED = 1
USAGE = 2
CANNOT_VERIFY = 3
CANCELLED = 130

HELP = """exit codes:
  0    verified, or the test already passed
  1    not solved, only partially verified, or with a warning (see --accept)
  2    wrong command line or settings
  3    cannot verify: no sandbox, no model, a missing package
  130  cancelled
"""
VERIFY_HELP = """exit codes:
  0    no test newly fails, and every pass is honest (see --require)
  1    not verified, or tampered with
  2    wrong command line or settings
  3    cannot verify: no repository, no sandbox, a missing package
  130  cancelled
"""


def of_outcome(outcome: Outcome, accept: Collection[str] = ()) -> int:
    """The exit code for an outcome."""
    if outcome.reason is StopReason.CANCELLED:
        return CANCELLED
    if outcome.reason is StopReason.ALREADY_GREEN or may_write(outcome, accept):
        return VERIFIED
    if not outcome.solved and outcome.reason in (StopReason.ENVIRONMENT, StopReason.MODEL):
        return CANNOT_VERIFY
    return NOT_SOLVED


def worst(codes: Collection[int]) -> int:
    """The single code of several runs: the one that the user should look at first."""
    order = (CANCELLED, USAGE, CANNOT_VERIFY, NOT_SOLVED)
    return next((code for code in order if code in codes), VERIFIED)
