"""Search/replace blocks laid over the files of a problem; the result is read like a whole module in an answer."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.core.diff import flat
from greenloop.core.fences import Block, Edit
from greenloop.core.nouns import Finding, Problem, Region
from greenloop.core.source import Piece, margin, piece

SEARCH_NOT_FOUND = "SearchNotFound"


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where the searched lines stand, and how their margin differs from what was searched."""

    path: str
    start: int
    theirs: str
    ours: str


def patched(problem: Problem, changes: Sequence[Edit]) -> list[Block] | Finding:
    """The changed modules as blocks of code; SearchNotFound or TruncatedAnswer where the edits cannot be made.

    Lines are looked for in the regions first, then in the rest of their files: exactly, then but for trailing spaces,
    then but for their common margin. An empty search adds its code as a block of its own.
    """
    texts = {region.path: flat(problem.files[region.path]).split("\n") for region in problem.regions}
    spans = {region: (region.start - 1, region.end) for region in problem.regions}
    extra = []
    for edit in changes:
        if not edit.closed:
            return Finding(
                error_class="TruncatedAnswer", message="The answer was cut off inside a search/replace block."
            )
        if not any(line.strip() for line in edit.search):
            extra.append(Block(text="\n".join(edit.replace)))
            continue
        place = _find(texts, spans, edit.search)
        if place is None:
            return _not_found(texts, edit.search)
        new = [_moved(line, place) for line in edit.replace]
        end = place.start + len(edit.search)
        texts[place.path][place.start : end] = new
        spans = {
            region: _shifted(span, place.start, end, len(new)) if region.path == place.path else span
            for region, span in spans.items()
        }
    return [*extra, *(block for path in texts for block in _blocks(path, texts[path], spans))]


def _blocks(path: str, rows: Sequence[str], spans: dict[Region, tuple[int, int]]) -> list[Block]:
    """The whole module, or where it is broken elsewhere its regions one by one."""
    text = "\n".join(rows)
    own = ["\n".join(rows[first:last]) for region, (first, last) in spans.items() if region.path == path]
    if isinstance(piece(text), Piece) or not any(isinstance(piece(one), Piece) for one in own):
        return [Block(text=text)]
    return [Block(text=one) for one in own]


def _shifted(span: tuple[int, int], start: int, end: int, count: int) -> tuple[int, int]:
    grown = count - (end - start)
    first, last = span
    if end <= first:
        return first + grown, last + grown
    return (first, last + grown) if start < last else span


def _find(texts: dict[str, list[str]], spans: dict[Region, tuple[int, int]], search: Sequence[str]) -> _Place | None:
    ranges = [(region.path, *span) for region, span in spans.items()] + [
        (path, 0, len(rows)) for path, rows in texts.items()
    ]
    for alike in (str, str.rstrip, str.strip):
        wanted = [alike(line) for line in search]
        for path, low, high in ranges:
            rows = [alike(line) for line in texts[path]]
            for start in range(low, high - len(wanted) + 1):
                if rows[start : start + len(wanted)] == wanted:
                    first = next(n for n, line in enumerate(search) if line.strip())
                    return _Place(
                        path=path, start=start, theirs=margin(search[first]), ours=margin(texts[path][start + first])
                    )
    return None


def _moved(line: str, place: _Place) -> str:
    if place.theirs == place.ours or not line.strip():
        return line
    if line.startswith(place.theirs):
        return place.ours + line[len(place.theirs) :]
    return line


def _not_found(texts: dict[str, list[str]], search: Sequence[str]) -> Finding:
    first = next(line.strip() for line in search if line.strip())
    path = next(iter(texts))
    near = difflib.get_close_matches(first, [row.strip() for row in texts[path] if row.strip()], n=1)
    hint = f"; the nearest line is `{near[0][:120]}`" if near and near[0] != first else ""
    message = f"The lines to be replaced, beginning with `{first[:120]}`, are not in {path} as written{hint}."
    return Finding(error_class=SEARCH_NOT_FOUND, message=message)
