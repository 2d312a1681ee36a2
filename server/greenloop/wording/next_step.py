"""Words for agents after a verification: the reason why a pass does not count, and the next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_STEPS = {
    "tampered": "Change the code so that it is right for every input; do not fake the pass.",
    "edits_tests": "Undo the change of what judges, or ask the user: --allow-test-change (allow_test_changes), with a "
    "reason.",
    "failing": "Correct the code; `greenloop explain TEST` (explain) tells where to look.",
    "still_failing": "Correct the code; `greenloop explain TEST` (explain) tells where to look. A test that no honest "
    "change can pass: report_impossible, or `greenloop stop --because TEXT`.",
    "partially_verified": "Finish what is missing, return plain values where a test compares, and do without what "
    "leaves the process; where that is not possible, tell the user that it is partially verified.",
    "not_verified": "See the reason.",
}


def next_step(state: str) -> str:
    """The next step after this state of a verification; empty where nothing is left to do."""
    return _STEPS.get(state, "")


def why_not_proven(unearned: Mapping[str, str], unfinished: Sequence[str]) -> str:
    """Returns why a pass does not count for an agent, by the reason of each test and other signs; empty if it does."""
    if unfinished:
        return f"The tests pass, and the change is perhaps unfinished: {'; '.join(unfinished)}."
    tests = "1 test passes" if len(unearned) == 1 else f"{len(unearned)} tests pass"
    return f"{tests}, and nothing shows that the code earned it." if unearned else ""
