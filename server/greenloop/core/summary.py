"""Summarises a run: verification level, changed regions, usage. It must not know how they are put into words."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.feature_data import doubts_of
from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.model import Usage
from greenloop.core.records.outcome import Evidence, Outcome, Verified
from greenloop.core.records.spec import USER_PROVENANCES, Provenance, Region

# Tests that are not the user's own.
GENERATED_PROVENANCES = (Provenance.DESIGNED, Provenance.PROPERTY)
CANNOT = "CannotFix"  # error class of an answer that says that nothing can be done


def verification_level(evidence: Evidence) -> Verified:
    """The level that the evidence supports; the only place that decides it.

    `VERIFIED` needs passing tests or examples of the user, a proof for each of them that its pass was earned, all
    related tests, no doubts of a feature, a sandbox, and any requested approval.
    """
    if evidence.sandbox == "none":
        return Verified.UNVERIFIED
    passed = {kind for kind, (good, _every) in evidence.cases.items() if good}
    lacks_approval = Provenance.HUMAN in evidence.cases and Provenance.HUMAN not in passed
    doubts = (evidence.neighbours_left_out, evidence.unproven, doubts_of(evidence.data), lacks_approval)
    if any(doubts) or not passed & USER_PROVENANCES:
        return Verified.PARTIALLY
    return Verified.VERIFIED


def changed_regions(attempt: Attempt) -> tuple[Region, ...]:
    """The regions that an attempt changes; without a candidate the suspects that it was to change, if it had any."""
    if attempt.candidate is not None:
        return tuple(attempt.candidate.texts)
    return attempt.draft.regions if attempt.draft else ()


def fold_attempts(attempts: Sequence[Attempt]) -> list[Sequence[Attempt]]:
    """The attempts as rows of a table: consecutive infills that solved nothing share a row."""
    rows: list[list[Attempt]] = []
    for attempt in attempts:
        if rows and _is_infill(attempt) and _is_infill(rows[-1][-1]):
            rows[-1].append(attempt)
        else:
            rows.append([attempt])
    return list(rows)


def _is_infill(attempt: Attempt) -> bool:
    return attempt.draft is not None and attempt.draft.move is Move.INFILL and not attempt.accepted


def total_usage(attempts: Sequence[Attempt]) -> Usage:
    """The usage of the attempts, including questions to models about them."""
    return sum((attempt.spent for attempt in attempts), Usage())


def count_candidates(outcome: Outcome) -> int:
    """The number of candidates; attempt 0 is the user's own code."""
    return sum(attempt.number > 0 for attempt in outcome.attempts)
