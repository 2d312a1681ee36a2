"""Search/replace blocks and hunks laid over a problem's files; the result is read like a whole module in an answer."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.core.compose import compose
from greenloop.core.diff import flat
from greenloop.core.fences import Block, Edit
from greenloop.core.nouns import Candidate, Finding, Problem, Region
from greenloop.core.source import Piece, margin, piece

SEARCH_NOT_FOUND = "SearchNotFound"
FUZZ = 3  # context lines that may be wrong at each end of a hunk before all of its context is left aside
MOST = 200  # edits of one answer that are made

Spans = dict[Region, tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where the searched lines stand, and how their margin differs from what was searched."""

    path: str
    start: int
    theirs: str
    ours: str


def patched(problem: Problem, changes: Sequence[Edit], base: Candidate | None = None) -> list[Block] | Finding:
    """The changed modules as blocks of code; SearchNotFound or TruncatedAnswer where the edits cannot be made.

    They are made to the code of `base`, which the answer's model was shown, or else to the user's own.
    Lines are looked for in the regions first, then in the rest of their files: exactly, then but for trailing spaces,
    then but for their common margin. An empty search adds its code as a block of its own.
    """
    if cut := next((edit for edit in changes if not edit.closed), None):
        where = "a hunk" if cut.kept else "a search/replace block"
        return Finding(error_class="TruncatedAnswer", message=f"The answer was cut off inside {where}.")
    missing = changes[0]
    for inside in (True, False):
        for candidate in (base, None) if base else (None,):
            found = _made(*_based(problem, candidate), changes[:MOST], inside=inside)
            if not isinstance(found, Edit):
                return found
            missing = found
    return _not_found(_based(problem, base)[0], missing.search)


def _based(problem: Problem, candidate: Candidate | None) -> tuple[dict[str, list[str]], Spans]:
    """The lines of the regions' files as a candidate has them, and where its regions stand there."""
    files: Mapping[str, str] = compose(problem, candidate) if candidate else {}
    texts = {region.path: flat(files.get(region.path, problem.files[region.path])) for region in problem.regions}
    spans = {region: (region.start - 1, region.end) for region in problem.regions}
    for region, own in (candidate.texts if candidate else {}).items():
        before, there, _after = texts[region.path].partition(flat(own).strip("\n"))
        start = before.count("\n") if there else 0
        spans[region] = (start, start + there.count("\n") + 1 if there else texts[region.path].count("\n") + 1)
    return {path: text.split("\n") for path, text in texts.items()}, spans


def _made(texts: dict[str, list[str]], spans: Spans, changes: Sequence[Edit], *, inside: bool) -> list[Block] | Edit:
    """The modules after all edits, or the first edit that cannot be made; `inside`: in the regions alone."""
    extra = []
    for edit in changes:
        if not any(line.strip() for line in edit.search):
            extra.append(Block(text="\n".join(edit.replace)))
            continue
        fitting = ((one, place) for one in _looser(edit) if (place := _find(texts, spans, one, inside=inside)))
        found = next(fitting, None)
        if found is None:
            return edit
        one, place = found
        rows = texts[place.path]
        kept = one.kept or (None,) * len(one.replace)
        new = [
            _moved(line, place) if same is None else rows[place.start + same]
            for line, same in zip(one.replace, kept, strict=True)
        ]
        end = place.start + len(one.search)
        rows[place.start : end] = new
        spans = {
            region: _shifted(span, place.start, end, len(new)) if region.path == place.path else span
            for region, span in spans.items()
        }
    return [*extra, *(block for path in texts for block in _blocks(path, texts[path], spans))]


def _looser(edit: Edit) -> Iterator[Edit]:
    """The edit, then with fewer and fewer of the unchanged lines around what it changes."""
    yield edit
    if not edit.kept:
        return
    most, same = len(edit.search), set(edit.kept)
    changed = [n for n in range(most) if n not in same]
    new = [n for n, old in enumerate(edit.kept) if old is None]
    lead = min([*changed[:1], *new[:1]], default=0)
    tail = min([*(most - 1 - n for n in changed[-1:]), *(len(edit.kept) - 1 - n for n in new[-1:])], default=0)
    depths = [*range(1, min(FUZZ, max(lead, tail)) + 1), most]
    # Where nothing is removed, what stands on one side is all that says where the new lines go.
    cuts = [cut for n in depths for cut in ([(n, n)] if changed else [(0, n), (n, 0)])]
    for head, foot in ((min(above, lead), min(below, tail)) for above, below in cuts):
        if any(line.strip() for line in edit.search[head : most - foot]):
            yield replace(
                edit,
                search=edit.search[head : most - foot],
                replace=edit.replace[head : len(edit.replace) - foot],
                kept=tuple(None if old is None else old - head for old in edit.kept[head : len(edit.kept) - foot]),
                anchor=None if edit.anchor is None else edit.anchor - head,
            )


def _blocks(path: str, rows: Sequence[str], spans: Spans) -> list[Block]:
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


def _find(texts: dict[str, list[str]], spans: Spans, edit: Edit, *, inside: bool) -> _Place | None:
    """Where the searched lines stand: the first place, or where the edit says a line, the one nearest to it."""
    ranges = [(region.path, *span) for region, span in spans.items()]
    if not inside:
        ranges += [(path, 0, len(rows)) for path, rows in texts.items()]
    search = edit.search
    anchor = next(n for n, line in enumerate(search) if line.strip()) if edit.anchor is None else edit.anchor
    for alike in (str, str.rstrip, str.strip):
        wanted = [alike(line) for line in search]
        for path, low, high in ranges:
            rows = [alike(line) for line in texts[path]]
            starts = (
                start for start in range(low, high - len(wanted) + 1) if rows[start : start + len(wanted)] == wanted
            )
            start = (
                min(starts, key=lambda start: abs(start + 1 - edit.line), default=None)
                if edit.line
                else next(starts, None)
            )
            if start is not None:
                ours, theirs = margin(texts[path][start + anchor]), margin(search[anchor])
                if edit.kept and edit.anchor is None and len(ours) - len(theirs) == 1:
                    theirs = ours  # the space that marks context was left out
                return _Place(path=path, start=start, theirs=theirs, ours=ours)
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
