"""Puts the current step of a run into words: reading the prompt, writing, looking, testing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from greenloop.core.events import Checked, Event, Finished, Looked, Offered, Proposed, Tested, Token
from greenloop.wording.notes import describe_doubts
from greenloop.wording.outcome import describe_rest


def step_after(event: Event) -> str:
    """Describes the step after an event; empty if a prompt is read (`reading_prompt` says it) or nothing is known."""
    match event:
        case Token():
            return f"writing, {event.count} tokens"
        case Looked():
            return f"looking: {event.look.summary}"
        case Proposed():
            return "reading the answer"
        case Checked():
            return event.message if event.error_class else "testing"
        case Tested():
            return "deciding"
        case Offered():
            evidence = event.outcome.evidence
            checked = evidence.neighbours_unchanged
            return describe_rest(checked, checked + evidence.neighbours_left_out)
        case Finished():
            return "finishing"
        case _:
            return ""


def reading_prompt(seconds: float, tokens: int = 0) -> str:
    """`reading prompt, about 20 s`; where the time is not known (0), with the length of the prompt if it is."""
    if seconds >= 1:
        return f"reading prompt, about {seconds:.0f} s"
    return f"reading prompt, {tokens} tokens" if tokens else "reading prompt"


_STEPS = {
    "tampered": "Change the code so that it is right for every input; do not fake the pass.",
    "edits_tests": "Undo that edit, or ask the user to allow it: --allow-test-change (allow_test_changes), with "
    "a reason.",
    "failing": "Correct the code; `greenloop explain TEST` (explain) shows where to look.",
    "still_failing": "Correct the code; `greenloop explain TEST` (explain) shows where to look. A test that no honest "
    "change can pass: report_impossible, or `greenloop stop --because TEXT`.",
    "partially_verified": "Finish what is missing, return plain values where a test compares, and do without what "
    "leaves the process; where that is not possible, tell the user that it is partially verified.",
    "not_verified": "See the reason.",
}


def next_step(state: str) -> str:
    """The next step after this state of a verification; empty where nothing is left to do."""
    return _STEPS.get(state, "")


def why_not_proven(unearned: Mapping[str, str], data: Mapping[str, Any]) -> str:
    """Returns why a pass does not count for an agent, by the reason of each test and other signs; empty if it does."""
    if doubts := describe_doubts(data):
        return f"The tests pass, and the change is {doubts}."
    tests = "1 test passes" if len(unearned) == 1 else f"{len(unearned)} tests pass"
    return f"{tests}, and nothing shows that the code earned it." if unearned else ""
