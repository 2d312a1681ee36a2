"""Defines the exit codes, and the one for each outcome."""

from __future__ import annotations

from collections.abc import Collection

from greenloop.core.records.outcome import Outcome, StopReason, Verified

VERIFIED = 0
NOT_SOLVED = 1
USAGE = 2
CANNOT_VERIFY = 3
CANCELLED = 130

HELP = """exit codes:
  0    verified, or already green
  1    not solved, or solved but not (wholly) verified; see --accept
  2    the command line or the settings are wrong
  3    cannot verify: no sandbox, no model, a missing package
  130  cancelled
"""


def is_accepted(outcome: Outcome, accept: Collection[str]) -> bool:
    """Is the result as trustworthy as the user asked for? `accept`: `partial`, `unverified`, `warned` or nothing."""
    if not outcome.solved:
        return False
    match outcome.verified:
        case Verified.VERIFIED:
            return True
        case Verified.PARTIALLY:
            return "partial" in accept or "unverified" in accept
        case Verified.UNVERIFIED:
            return "unverified" in accept


def may_write(outcome: Outcome, accept: Collection[str]) -> bool:
    """May it be written without review? With warnings (it newly imports os, ...) only if those are accepted."""
    return is_accepted(outcome, accept) and (not outcome.evidence.warnings or "warned" in accept)


def of_outcome(outcome: Outcome, accept: Collection[str] = ()) -> int:
    """The exit code for an outcome."""
    if outcome.reason is StopReason.CANCELLED:
        return CANCELLED
    if outcome.reason is StopReason.ALREADY_GREEN or is_accepted(outcome, accept):
        return VERIFIED
    if not outcome.solved and outcome.reason in (StopReason.ENVIRONMENT, StopReason.MODEL):
        return CANNOT_VERIFY
    return NOT_SOLVED


def worst(codes: Collection[int]) -> int:
    """The single code of several runs: the one that the user should look at first."""
    order = (CANCELLED, USAGE, CANNOT_VERIFY, NOT_SOLVED)
    return next((code for code in order if code in codes), VERIFIED)
