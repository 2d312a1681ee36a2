"""Describes what a result means beyond its target: other tests that it fixes, what stays red, what to look at.

It must not know how far a result is verified.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from greenloop.core.feature_data import show
from greenloop.core.records.model import Usage
from greenloop.core.records.outcome import Evidence, Outcome

NAMED = 3  # tests


def describe_also_fixed(evidence: Evidence) -> str:
    """`also fixes test_a, test_b and 2 more`: tests that failed before and pass now; empty without."""
    return f"also fixes {name_tests(evidence.also_fixed)}" if evidence.also_fixed else ""


def describe_still_red(evidence: Evidence) -> str:
    """`2 tests that fail for the same cause are still red: test_a, test_b.`; empty without."""
    count = len(evidence.still_red)
    if not count:
        return ""
    subject = "1 test that fails" if count == 1 else f"{count} tests that fail"
    return f"{subject} for the same cause {'is' if count == 1 else 'are'} still red: {name_tests(evidence.still_red)}."


def name_tests(cases: Sequence[str]) -> str:
    """`test_a, test_b and 2 more`."""
    return list_some([case.rpartition("::")[2] for case in cases])


def list_some(names: Sequence[str], most: int = NAMED) -> str:
    """`a, b and 2 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def describe_withdrawn(usage: Usage) -> str:
    """Describes the cost of a question sent ahead whose answer was not needed; empty without one."""
    if not usage.tokens:
        return ""
    cost = ", at an unknown price" if usage.cost is None else f", ${usage.cost:.4f}" if usage.cost else ""
    return f"A question to the model was no longer needed: about {usage.tokens:,} tokens{cost}."


def describe_doubts(data: Mapping[str, Any]) -> str:
    """`perhaps unfinished: …`: the doubts of features; empty without."""
    return ", ".join(shown.doubt for shown in show(data) if shown.doubt)


def describe_weakness(data: Mapping[str, Any]) -> str:
    """`its tests notice 3 of 12 one-token changes of it`, where that is little; empty without."""
    return ", ".join(shown.weakness for shown in show(data) if shown.weakness)


def list_beyond(data: Mapping[str, Any]) -> list[str]:
    """Lists the points that the tests of a green result leave open, a sentence each."""
    notes = [note for shown in show(data) for note in shown.notes]
    return notes + [str(each["note"]) for each in data.values() if each.get("note")]


def list_notes(outcome: Outcome) -> tuple[str, ...]:
    """Lists a maintainer's objections to a solved run's change: `x = 1` is overwritten by the next line, m.py:12.

    Also the points that its tests leave open.
    """
    accepted = (each for each in outcome.attempts if outcome.solved and each.number == outcome.best)
    blemishes = tuple(blemish for attempt in accepted for blemish in attempt.blemishes)
    return (*blemishes, *(list_beyond(outcome.evidence.data) if outcome.solved else ()))


def note_lines(outcome: Outcome) -> list[str]:
    """The notes as lines: `Note: …`."""
    return [f"Note: {note}" for note in list_notes(outcome)]
