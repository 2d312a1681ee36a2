"""Why a test has another outcome in the sandbox than on the host: which promise of the sandbox it runs into."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.nouns import Failure


def cause(case: str, failure: Failure | None, there: str, *, root: Path) -> str:
    """The promise in a few words, or "" when none explains it. `there`: what the test said on the host."""
    return ""
