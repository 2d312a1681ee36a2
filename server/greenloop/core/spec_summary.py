"""Summarises a spec for users: counts of tests by origin, and a line with the worth of each. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from greenloop.core.records.spec import USER_PROVENANCES, Case, Provenance, Spec

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
