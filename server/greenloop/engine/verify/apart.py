"""Requirements of a verification beyond a pass: that the tests were judged apart from the code.

It must not know how that is done.
"""

from __future__ import annotations

from typing import Literal

from greenloop.core.records.outcome import Evidence

Require = Literal["", "apart"]
APART: Require = "apart"


def is_apart(evidence: Evidence) -> bool:
    """Did every test that can be judged in a process without the code under test pass there?"""
    return evidence.out_of_process == evidence.canary_total > 0


def unmet(require: Require, *, apart: bool) -> str:
    """Why a pass does not have what is required; "" if it does."""
    if require == APART and not apart:
        return "All passed, but not every test was judged apart from the code (`--require apart`)."
    return ""
