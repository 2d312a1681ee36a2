"""Puts generated tests into words: counts by origin, a line with the worth of each, and those that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.core.events import Specified
from greenloop.core.records.spec import USER_PROVENANCES, Case, Provenance, Spec
from greenloop.wording.markup import code

LABELS = {
    Provenance.USER: "written by you",
    Provenance.DOCTEST: "examples in the docstring",
    Provenance.EXAMPLE: "examples in the docstring",
    Provenance.TRACE: "recorded calls",
    Provenance.CONFIRMED: "confirmed by you",
    Provenance.HUMAN: "to be accepted by you",
    Provenance.SCORE: "measured by your scorer",
    Provenance.CONSTRAINT: "limits that you set",
    Provenance.HINT: "from the type hints",
    Provenance.GOAL: "what you asked for",
    Provenance.DESIGNED: "written by the model",
    Provenance.PROPERTY: "properties",
}
MAX_LISTED = 40  # tests that are listed at once
LONGEST = 100  # characters of a shown test


@dataclass(frozen=True, kw_only=True)
class SpecRow:
    """A generated test as a list shows it; `why` is its worth. `is_discarded`: it no longer counts."""

    source: str
    why: str
    is_discarded: bool = False
    binding: bool = False


def count_tests(spec: Spec) -> str:
    """`3 examples in the docstring, 8 written by the model, 2 properties`; outvoted tests are counted too."""
    counts = Counter(LABELS[case.provenance] for case in (*spec.cases, *spec.outvoted))
    labels = [label for label in dict.fromkeys(LABELS.values()) if counts[label]]
    return ", ".join(f"{counts[label]} {_singular(label) if counts[label] == 1 else label}" for label in labels)


def list_rows(spec: Spec, *, has_votes: bool, discarded: tuple[str, ...] = ()) -> list[SpecRow]:
    """The tests that have no file in the project, binding ones first. `has_votes`: candidates voted on the others."""
    written = [case for case in spec.cases if case.source]
    binding = [case for case in written if case.binding]
    voting = [case for case in written if not case.binding]
    return [
        *(SpecRow(source=_short(case.source), why=_describe_worth(case), binding=True) for case in binding),
        *(
            SpecRow(source=_short(case.source), why=_describe_worth(case) + ", supported by votes" * has_votes)
            for case in voting
        ),
        *(
            SpecRow(source=_short(each.source), why="discarded: the votes go against it", is_discarded=True)
            for each in spec.outvoted
        ),
        *(SpecRow(source=_short(each), why="removed by you", is_discarded=True) for each in discarded),
    ]


def describe_one(provenance: Provenance) -> str:
    """The label of a single test."""
    return _singular(LABELS[provenance])


def _singular(words: str) -> str:
    for many, single in (("examples", "example"), ("calls", "call"), ("limits", "limit"), ("properties", "property")):
        words = words.replace(many, single)
    return words


def _describe_worth(case: Case) -> str:
    word = describe_one(case.provenance)
    return word if case.provenance in USER_PROVENANCES or not case.binding else f"{word}, must hold"


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= LONGEST else one_line[: LONGEST - 1] + "…"


def list_item(row: SpecRow) -> str:
    """A test as an item of a Markdown list, with its worth; one that no longer counts is struck through."""
    return f"- ~~{code(row.source)}~~ {row.why}" if row.is_discarded else f"- {code(row.source)} {row.why}"


class ChangedTests:
    """Lists all tests once, and afterwards only the changes."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._doubts: set[str] = set()

    def lines(self, event: Specified) -> Iterator[str]:
        """The lines of an event: `?` has a vote, `=` must pass, `x` no longer counts."""
        listed = list_rows(event.spec, has_votes=bool(self._known))
        changed = [each for each in listed if self._known.get(each.source) != each.why]
        if not self._known:
            yield f"tests, fixed before the first attempt: {count_tests(event.spec)}"
        elif event.reason:
            yield event.reason
        for each in changed[:MAX_LISTED]:
            mark = "x" if each.is_discarded else "=" if each.binding else "?"
            yield f"  {mark} {each.source}  ({each.why})"
        if len(changed) > MAX_LISTED:
            yield f"  … {len(changed) - MAX_LISTED} more"
        yield from (f"  in doubt: {doubt}" for doubt in event.spec.doubts if doubt not in self._doubts)
        self._known = {each.source: each.why for each in listed}
        self._doubts.update(event.spec.doubts)
