"""Puts the current step of a run into words: reading the prompt, writing, looking, testing."""

from __future__ import annotations

from greenloop.core.events import Checked, Event, Finished, Looked, Offered, Proposed, Tested, Token
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
