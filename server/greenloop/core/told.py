"""What must hold, for people: how many tests of whose, and each with what it is worth. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from greenloop.core.nouns import OWN, Case, Provenance, Spec

WORDS = {
    Provenance.USER: "written by you",
    Provenance.DOCTEST: "examples in the docstring",
    Provenance.EXAMPLE: "examples in the docstring",
    Provenance.TRACE: "recorded calls",
    Provenance.CONFIRMED: "confirmed by you",
    Provenance.HUMAN: "for you to accept",
    Provenance.SCORE: "measured by your scorer",
    Provenance.CONSTRAINT: "limits that you set",
    Provenance.HINT: "from the type hints",
    Provenance.DESIGNED: "designed by the model",
    Provenance.PROPERTY: "properties",
}
LONGEST = 100  # characters of a test that are shown


@dataclass(frozen=True, kw_only=True)
class Line:
    """A test that greenloop wrote, as a list shows it. `lost`: it counts no more, and `why` says so."""

    source: str
    why: str
    lost: bool = False
    binding: bool = False


def census(spec: Spec) -> str:
    """`3 examples in the docstring, 8 designed by the model, 2 properties`; what votes went against is counted too."""
    counted = Counter(WORDS[case.provenance] for case in (*spec.cases, *spec.outvoted))
    words = [word for word in dict.fromkeys(WORDS.values()) if counted[word]]
    return ", ".join(f"{counted[word]} {_singular(word) if counted[word] == 1 else word}" for word in words)


def lines(spec: Spec, *, voted: bool, struck: tuple[str, ...] = ()) -> list[Line]:
    """The tests that nobody can read elsewhere, those that must hold first. `voted`: candidates have had their say."""
    written = [case for case in spec.cases if case.source]
    first = [case for case in written if case.binding]
    rest = [case for case in written if not case.binding]
    return [
        *(Line(source=_short(case.source), why=_worth(case), binding=True) for case in first),
        *(Line(source=_short(case.source), why=_worth(case) + ", believed by votes" * voted) for case in rest),
        *(
            Line(source=_short(each.source), why="not believed: the votes go against it", lost=True)
            for each in spec.outvoted
        ),
        *(Line(source=_short(each), why="struck out by you", lost=True) for each in struck),
    ]


def one(provenance: Provenance) -> str:
    """The same words, of a single test."""
    return _singular(WORDS[provenance])


def _singular(words: str) -> str:
    for many, single in (("examples", "example"), ("calls", "call"), ("limits", "limit"), ("properties", "property")):
        words = words.replace(many, single)
    return words


def _worth(case: Case) -> str:
    word = one(case.provenance)
    return word if case.provenance in OWN or not case.binding else f"{word}, must hold"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"
