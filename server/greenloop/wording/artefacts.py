"""Lists what a planner wrote before the code and about it: plans, expected values, simulations, reflections.

The texts are those of models and traced runs; whoever shows them escapes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.records.attempt import Attempt

NOT_USED = "not used"  # the name of an answer that holds no plan, or contradicts the tests


def list_artefacts(attempt: Attempt) -> dict[str, str]:
    """The artefacts in the notes on an attempt, by name; an answer that was not used is among them."""
    listed: dict[str, str] = {}
    for note in attempt.notes:
        artefacts = note.fields.get("artefacts")
        if not isinstance(artefacts, Mapping):
            continue
        listed |= {str(name): str(text) for name, text in artefacts.items() if text}
        if unparsable := note.fields.get("unparsable"):
            listed[NOT_USED] = str(unparsable)
    return listed


def artefact_title(attempt: Attempt, name: str) -> str:
    """A heading such as `Plan:`, or `First divergence of attempt 2:`."""
    what = "The planner's answer that was not used" if name == NOT_USED else name.capitalize()
    return f"{what} of attempt {attempt.number}:" if attempt.number else f"{what}:"


def first_rows(text: str, most: int) -> str:
    """The first rows of a text; the rest are counted."""
    rows = text.split("\n")
    return text if len(rows) <= most else "\n".join([*rows[:most], f"… {len(rows) - most} more lines"])
