"""Finds the searched lines of an edit in a text, and puts the new ones in their place.

Lines are compared exactly, then without trailing spaces, then without indentation; parts of lines are found where they
stand once. It must not know which files there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from greenloop.core.python.indentation import indentation_of
from greenloop.core.text.similar import closest
from greenloop.drafting.candidates.answers.code_blocks import BlockEdit

FUZZ = 3  # context lines that may be wrong at each end of a hunk before all of its context is ignored
COMPARISONS: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip)

Range = tuple[int, int]  # half-open


@dataclass(frozen=True, kw_only=True)
class Place:
    """The first of the searched lines, counted from 0, and their indentation in the answer and in the text."""

    start: int
    answer_margin: str
    text_margin: str


def relaxed_variants(edit: BlockEdit) -> Iterator[BlockEdit]:
    """The edit, then variants with fewer and fewer of the unchanged lines around its change."""
    yield edit
    if not edit.origins:
        return
    size, kept_lines = len(edit.search), set(edit.origins)
    changed = [n for n in range(size) if n not in kept_lines]
    new = [n for n, old in enumerate(edit.origins) if old is None]
    context_before = min([*changed[:1], *new[:1]], default=0)
    context_after = min(
        [*(size - 1 - n for n in changed[-1:]), *(len(edit.origins) - 1 - n for n in new[-1:])], default=0
    )
    depths = [*range(1, min(FUZZ, max(context_before, context_after)) + 1), size]
    # Where nothing is removed, the context on one side alone must say where the new lines go.
    cuts = [cut for n in depths for cut in ([(n, n)] if changed else [(0, n), (n, 0)])]
    for head, foot in ((min(above, context_before), min(below, context_after)) for above, below in cuts):
        if any(line.strip() for line in edit.search[head : size - foot]):
            yield replace(
                edit,
                search=edit.search[head : size - foot],
                replace=edit.replace[head : len(edit.replace) - foot],
                origins=tuple(
                    None if old is None else old - head for old in edit.origins[head : len(edit.origins) - foot]
                ),
                anchor=None if edit.anchor is None else edit.anchor - head,
            )


def find_places(rows: Sequence[str], edit: BlockEdit, ranges: Iterable[Range]) -> list[Place]:
    """All places of the searched lines by the strictest comparison that finds any, the nearest to its hint first."""
    ranges = list(ranges)
    for normalise in COMPARISONS:
        searched = [normalise(line) for line in edit.search]
        normal = [normalise(row) for row in rows]
        starts = dict.fromkeys(
            start
            for low, high in ranges
            for start in range(low, high - len(searched) + 1)
            if normal[start : start + len(searched)] == searched
        )
        if starts:
            hint = edit.line_hint
            ordered = sorted(starts, key=lambda start: abs(start + 1 - hint)) if hint else list(starts)
            return [_place(rows, edit, start) for start in ordered]
    return []


def _place(rows: Sequence[str], edit: BlockEdit, start: int) -> Place:
    search = edit.search
    anchor = next(n for n, line in enumerate(search) if line.strip()) if edit.anchor is None else edit.anchor
    text_margin, answer_margin = indentation_of(rows[start + anchor]), indentation_of(search[anchor])
    if edit.origins and edit.anchor is None and len(text_margin) - len(answer_margin) == 1:
        answer_margin = text_margin  # the model omitted the space that marks context lines
    return Place(start=start, answer_margin=answer_margin, text_margin=text_margin)


def replacement(rows: Sequence[str], edit: BlockEdit, place: Place) -> list[str]:
    """The new lines for the searched ones at a place; lines that the edit keeps stay as the text has them."""
    kept = edit.origins or (None,) * len(edit.replace)
    return [
        _reindent(line, place) if old is None else rows[place.start + old]
        for line, old in zip(edit.replace, kept, strict=True)
    ]


def _reindent(line: str, place: Place) -> str:
    if place.answer_margin == place.text_margin or not line.strip():
        return line
    if line.startswith(place.answer_margin):
        return place.text_margin + line[len(place.answer_margin) :]
    return line


def with_whole_lines(rows: Sequence[str], edit: BlockEdit) -> BlockEdit | None:
    """The edit of the whole lines of which it searches a part; None if that part does not stand exactly once."""
    text, part = "\n".join(rows), "\n".join(edit.search).strip()
    if edit.origins or text.count(part) != 1:
        return None
    at = text.index(part)
    start, end = text.rfind("\n", 0, at) + 1, (f"{text}\n").index("\n", at + len(part))
    new = text[start:at] + "\n".join(edit.replace).strip() + text[at + len(part) : end]
    return replace(edit, search=tuple(text[start:end].split("\n")), replace=tuple(new.split("\n")))


def nearest_line(rows: Sequence[str], search: Sequence[str]) -> tuple[str, str, int]:
    """The first searched line, the line of the text that is most like it ("" where none is), and that one's number."""
    first = next((line.strip() for line in search if line.strip()), "")
    stripped = [row.strip() for row in rows]
    near = closest(first, filter(None, stripped))
    return (first, near, stripped.index(near) + 1) if near else (first, "", 0)
