"""Describes what a result means beyond its target: other tests that it fixes, what stays red, what to look at.

It must not know how far a result is verified.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.model import Usage
from greenloop.core.records.outcome import Difference, Evidence, Noticed, Outcome

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
    more = f" and {len(cases) - NAMED} more" if len(cases) > NAMED else ""
    return ", ".join(case.rpartition("::")[2] for case in cases[:NAMED]) + more


def describe_withdrawn(usage: Usage) -> str:
    """Describes the cost of a question sent ahead whose answer was not needed; empty without one."""
    if not usage.tokens:
        return ""
    cost = ", at an unknown price" if usage.cost is None else f", ${usage.cost:.4f}" if usage.cost else ""
    return f"A question to the model was no longer needed: about {usage.tokens:,} tokens{cost}."


def describe_difference(difference: Difference) -> str:
    """`f(3, "x"): old → 5, new → 7`."""
    return f"{difference.call}: old → {difference.old}, new → {difference.new}"


def describe_noticed(noticed: Noticed) -> str:
    """`its tests notice 3 of 12 one-token changes of it`."""
    counted = f"notice {noticed.killed} of {noticed.tried} one-token changes of it"
    return f"its tests {counted if noticed.tried else 'reach none of its changed lines'}"


def list_survivors(noticed: Noticed, most: int = NAMED) -> list[str]:
    """Lists changes that the tests would also accept, a line each: `` `<` → `<=` in `return a < b`, m.py:2 ``."""
    rows = [f"{each.change}, {each.path}:{each.line}" for each in noticed.survivors[:most]]
    return rows + [f"anything in {path}:{line}, which they never reach" for path, line in noticed.unreached[:most]]


def list_beyond(evidence: Evidence) -> list[str]:
    """Lists the points that the tests of a green result leave open, a sentence each."""
    found = []
    if evidence.differences:
        first = evidence.differences[0]
        shown = "; ".join(map(describe_difference, evidence.differences))
        found.append(f"Green, though is this wanted? {shown}, {first.path}:{first.line}")
    if evidence.unfinished:
        found.append(f"Green, and perhaps unfinished: {'; '.join(evidence.unfinished)}")
    if evidence.noticed is not None and (survivors := list_survivors(evidence.noticed)):
        found.append(f"{describe_noticed(evidence.noticed).capitalize()}; they also accept {'; '.join(survivors)}")
    return found + [str(data["note"]) for data in evidence.data.values() if data.get("note")]


def list_notes(outcome: Outcome) -> tuple[str, ...]:
    """Lists a maintainer's objections to a solved run's change: `x = 1` is overwritten by the next line, m.py:12.

    Also the points that its tests leave open.
    """
    accepted = (each for each in outcome.attempts if outcome.solved and each.number == outcome.best)
    blemishes = tuple(blemish for attempt in accepted for blemish in attempt.blemishes)
    return (*blemishes, *(list_beyond(outcome.evidence) if outcome.solved else ()))


def note_lines(outcome: Outcome) -> list[str]:
    """The notes as lines: `Note: …`."""
    return [f"Note: {note}" for note in list_notes(outcome)]
