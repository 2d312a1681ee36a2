"""What a docstring itself demands, as a checklist: its clauses with "must", "should", "returns", "raises". Pure text.

Verification against nothing but the original instructions is the idea of Prompt-Free Collaborative Agents
(arXiv 2512.02812).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from greenloop.core.docstring import dedented, kind_of, sections

MOST = 12  # items
LONGEST = 200  # characters of one item
_DEMAND = r"(?:must|should|shall|has to|have to|needs? to|may not|cannot|returns?|raises?|yields?)"
_SAYS = re.compile(rf"\b{_DEMAND}\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"(])")
# `It must be sorted, must keep the case and should be fast` are three demands.
_CLAUSE = re.compile(
    rf"(?:\s*[,;]\s*(?:and|but|or)?\s*|\s+(?:and|but)\s+)(?=(?:(?:it|they|this|the\s+\w+)\s+)?{_DEMAND}\b)",
    re.IGNORECASE,
)
_FIELD = re.compile(r"\s*[:@]\w+[^:]*:")


def checklist(docstring: str) -> tuple[str, ...]:
    """The demands in the docstring's own words, in order, equal ones once; at most `MOST`."""
    found = [clause for sentence in _sentences(docstring) for clause in _clauses(sentence)]
    told = sections(docstring)
    if told.returns and (told.returns.text or told.returns.type):
        said = " ".join(" ".join((told.returns.text or told.returns.type).split())[:LONGEST].split())
        found.append(f"returns {said}")
    found += [f"raises {' '.join(f'{each.name}: {each.text}'.split())}".rstrip(": ") for each in told.raises]
    return tuple(dict.fromkeys(item[:LONGEST].rstrip(".") for item in found))[:MOST]


def _clauses(sentence: str) -> Iterator[str]:
    """Its demands, each with the subject of the first where it has none of its own."""
    for clause in _CLAUSE.split(sentence):
        if _SAYS.search(clause):
            yield clause.strip()


def _sentences(docstring: str) -> Iterator[str]:
    """The prose: no examples, and nothing of the sections that have names of their own."""
    paragraph: list[str] = []
    for row in [*_prose(docstring), ""]:
        if row:
            # A point of a list stands for itself.
            if row[:2] in ("- ", "* ") and paragraph:
                yield from _SENTENCE.split(" ".join(paragraph))
                paragraph = []
            paragraph.append(row.removeprefix("- ").removeprefix("* "))
        elif paragraph:
            yield from _SENTENCE.split(" ".join(paragraph))
            paragraph = []


def _prose(docstring: str) -> Iterator[str]:
    example = False
    for row in dedented(docstring):
        text = row.strip()
        if kind_of(row):
            return
        example = text.startswith(">>>") or (example and bool(text))
        if not example and not _FIELD.match(row):
            yield text
