"""Says when a run is out of attempts, tokens, money or readable answers, and which drafts may still be asked for.

The limits on tokens and money themselves are kept where they are reserved and billed, in `core/budget.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.election import CHEAP, WITHOUT_MODEL, count_asked
from greenloop.core.records.attempt import Draft
from greenloop.core.records.outcome import StopReason
from greenloop.core.run_state import RunState


def exceeded_limit(state: RunState) -> StopReason | None:
    """Returns the limit that is reached, or None; checked in this one place, before every round."""
    attempts, ledger, budget = state.attempts, state.ledger, state.ledger.budget
    if count_asked(attempts) >= budget.attempts:
        return StopReason.ATTEMPTS
    if ledger.used.tokens >= budget.tokens:
        return StopReason.TOKENS
    if budget.cost and ledger.used.cost is not None and ledger.used.cost >= budget.cost:
        return StopReason.COST
    model_attempts = [attempt for attempt in attempts if attempt.draft and attempt.draft.move not in CHEAP]
    # A model that cannot read one suspect may well have an answer for the next.
    patience = budget.unreadable * len({attempt.draft.regions for attempt in model_attempts if attempt.draft})
    last = model_attempts[-patience:]
    if patience and len(last) == patience and all(attempt.candidate is None and attempt.finding for attempt in last):
        return StopReason.ANSWERS
    return None


def allowed_drafts(state: RunState, drafts: Sequence[Draft]) -> list[Draft]:
    """Returns the drafts that the limit on attempts allows; moves without a model do not count."""
    room = state.ledger.budget.attempts - count_asked(state.attempts)
    kept = []
    for draft in drafts:
        room -= draft.move not in WITHOUT_MODEL
        if room >= 0:
            kept.append(draft)
    return kept
