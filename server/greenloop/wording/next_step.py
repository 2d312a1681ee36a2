"""The next step after a verification, in the words that agents are told."""

from __future__ import annotations

_STEPS = {
    "tampered": "Change the code so that it is right for every input; do not fake the pass.",
    "edits_tests": "Undo the change of what judges, or ask the user: --allow-test-change (allow_test_changes), with a "
    "reason.",
    "failing": "Correct the code; `greenloop explain TEST` (explain) tells where to look.",
    "still_failing": "Correct the code; `greenloop explain TEST` (explain) tells where to look. A test that no honest "
    "change can pass: report_impossible, or tell the user.",
    "not_verified": "See the reason.",
}


def next_step(state: str) -> str:
    """The next step after this state of a verification; empty where nothing is left to do."""
    return _STEPS.get(state, "")
