"""Selectors that fit on one command line of pytest."""

from __future__ import annotations

from collections.abc import Sequence

MOST_SELECTORS = 400  # ids; more of them are selected by their files


def fit_selectors(ids: Sequence[str]) -> tuple[str, ...]:
    """The ids themselves, or their files when there are too many for one command line."""
    if len(ids) <= MOST_SELECTORS:
        return tuple(ids)
    return tuple(dict.fromkeys(case.split("::", 1)[0] for case in ids))
