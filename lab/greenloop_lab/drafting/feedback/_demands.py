"""Extracts the demands of a docstring as a checklist: clauses with "must", "returns", "raises".

Pure text work. Verification against only the original instructions is the idea of Prompt-Free Collaborative Agents
(arXiv 2512.02812).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from greenloop.core.documentation import dedent_rows
from greenloop.plugins.function_calls.sections import parse_sections, section_kind

MAX_ITEMS = 12  # items
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


def list_demands(docstring: str) -> tuple[str, ...]:
    """The demands in the docstring's own words, in order, without repetitions; at most `MAX_ITEMS`."""
    demands = [clause for sentence in _sentences(docstring) for clause in _clauses(sentence)]
    parsed_sections = parse_sections(docstring)
    if parsed_sections.returns and (parsed_sections.returns.text or parsed_sections.returns.type):
        result_text = " ".join(
            " ".join((parsed_sections.returns.text or parsed_sections.returns.type).split())[:LONGEST].split()
        )
        demands.append(f"returns {result_text}")
    demands += [
        f"raises {' '.join(f'{each.name}: {each.text}'.split())}".rstrip(": ") for each in parsed_sections.raises
    ]
    return tuple(dict.fromkeys(item[:LONGEST].rstrip(".") for item in demands))[:MAX_ITEMS]


def _clauses(sentence: str) -> Iterator[str]:
    """The clauses of a sentence that demand something."""
    for clause in _CLAUSE.split(sentence):
        if _SAYS.search(clause):
            yield clause.strip()


def _sentences(docstring: str) -> Iterator[str]:
    """Yields the sentences of the prose, without examples and named sections."""
    paragraph: list[str] = []
    for row in [*_prose(docstring), ""]:
        if row:
            # Each item of a list is a paragraph.
            if row[:2] in ("- ", "* ") and paragraph:
                yield from _SENTENCE.split(" ".join(paragraph))
                paragraph = []
            paragraph.append(row.removeprefix("- ").removeprefix("* "))
        elif paragraph:
            yield from _SENTENCE.split(" ".join(paragraph))
            paragraph = []


def _prose(docstring: str) -> Iterator[str]:
    example = False
    for row in dedent_rows(docstring):
        text = row.strip()
        if section_kind(row):
            return
        example = text.startswith(">>>") or (example and bool(text))
        if not example and not _FIELD.match(row):
            yield text
