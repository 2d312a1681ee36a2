"""The attempt that the next refinement starts from."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.election import is_valid, rank
from greenloop.core.records.attempt import Attempt


def newest_best(attempts: Sequence[Attempt]) -> Attempt | None:
    """The best attempt so far, the newest of equals: different code that is equally good is a step, not a loss."""
    return max(filter(is_valid, attempts), key=lambda attempt: (rank(attempt), attempt.number), default=None)
