"""Applies search/replace blocks and hunks to a problem's files; the result is read as a module."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from greenloop.core.compose import compose
from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.python.indentation import indentation_of
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.answers.code_blocks import Block, Edit

SEARCH_NOT_FOUND = "SearchNotFound"
FUZZ = 3  # context lines that may be wrong at each end of a hunk before all of its context is ignored
MOST = 200  # edits of one answer that are applied

Spans = dict[Region, tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class _Place:
    """The place of the searched lines, and their indentation in the answer and in the file."""

    path: str
    start: int
    answer_margin: str
    file_margin: str


def apply_edits(problem: Problem, changes: Sequence[Edit], base: Candidate | None = None) -> list[Block] | Finding:
    """The changed modules as blocks of code; SearchNotFound or TruncatedAnswer where the edits cannot be applied.

    They are applied to the code of `base`, which the model was shown, or else to the user's own. Lines are searched in
    the regions first, then in the rest of their files and in those of suspects: exactly, then without trailing spaces,
    then without indentation.
    An empty search adds its code as a separate block.
    """
    if cut := next((edit for edit in changes if not edit.closed), None):
        kind = "a hunk" if cut.origins else "a search/replace block"
        return Finding(error_class="TruncatedAnswer", message=f"The answer was cut off inside {kind}.")
    missing = changes[0]
    for only_regions in (True, False):
        for candidate in (base, None) if base else (None,):
            result = _apply_all(*_base_texts(problem, candidate), changes[:MOST], only_regions=only_regions)
            if not isinstance(result, Edit):
                return result
            missing = result
    return _not_found(_base_texts(problem, base)[0], missing.search)


def _base_texts(problem: Problem, candidate: Candidate | None) -> tuple[dict[str, list[str]], Spans]:
    """The lines of the files of regions and suspects in a candidate, and the places of its regions in them."""
    files: Mapping[str, str] = compose(problem, candidate) if candidate else {}
    paths = dict.fromkeys(region.path for region in (*problem.regions, *problem.suspects))
    texts = {path: with_plain_ends(files.get(path, problem.files[path])) for path in paths}
    spans = {region: (region.start - 1, region.end) for region in problem.regions}
    for region, code in (candidate.texts if candidate else {}).items():
        text_before, separator, _after = texts[region.path].partition(with_plain_ends(code).strip("\n"))
        start = text_before.count("\n") if separator else 0
        spans[region] = (start, start + separator.count("\n") + 1 if separator else texts[region.path].count("\n") + 1)
    return {path: text.split("\n") for path, text in texts.items()}, spans


def _apply_all(
    texts: dict[str, list[str]], spans: Spans, changes: Sequence[Edit], *, only_regions: bool
) -> list[Block] | Edit:
    """The modules after all edits, or the first edit that cannot be applied; `only_regions` spares other code."""
    extra_blocks = []
    before = {path: list(rows) for path, rows in texts.items()}
    own = {region.path for region in spans}
    for edit in changes:
        if not any(line.strip() for line in edit.search):
            extra_blocks.append(Block(text="\n".join(edit.replace)))
            continue
        matches = (
            (variant, place)
            for variant in _relaxed_variants(edit)
            if (place := _find(texts, spans, variant, only_regions=only_regions))
        )
        match = next(matches, None)
        if match is None:
            return edit
        variant, place = match
        rows = texts[place.path]
        kept = variant.origins or (None,) * len(variant.replace)
        new_lines = [
            _reindent_line(line, place) if old_line is None else rows[place.start + old_line]
            for line, old_line in zip(variant.replace, kept, strict=True)
        ]
        end = place.start + len(variant.search)
        rows[place.start : end] = new_lines
        spans = {
            region: _shift_span(span, place.start, end, len(new_lines)) if region.path == place.path else span
            for region, span in spans.items()
        }
    paths = [path for path, rows in texts.items() if path in own or rows != before[path]]
    return [*extra_blocks, *(block for path in paths for block in _blocks(path, texts[path], spans))]


def _relaxed_variants(edit: Edit) -> Iterator[Edit]:
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
            yield Edit(
                search=edit.search[head : size - foot],
                replace=edit.replace[head : len(edit.replace) - foot],
                closed=edit.closed,
                origins=tuple(
                    None if old is None else old - head for old in edit.origins[head : len(edit.origins) - foot]
                ),
                anchor=None if edit.anchor is None else edit.anchor - head,
                line_hint=edit.line_hint,
            )


def _blocks(path: str, rows: Sequence[str], spans: Spans) -> list[Block]:
    """The whole module, or its regions one by one where another part of the module does not parse."""
    text = "\n".join(rows)
    region_texts = ["\n".join(rows[first:last]) for region, (first, last) in spans.items() if region.path == path]
    if isinstance(parse_fragment(text), Fragment) or not any(
        isinstance(parse_fragment(one), Fragment) for one in region_texts
    ):
        return [Block(text=text, path=path)]
    return [Block(text=one, path=path) for one in region_texts]


def _shift_span(span: tuple[int, int], start: int, end: int, count: int) -> tuple[int, int]:
    grown = count - (end - start)
    first, last = span
    if end <= first:
        return first + grown, last + grown
    return (first, last + grown) if start < last else span


def _find(texts: dict[str, list[str]], spans: Spans, edit: Edit, *, only_regions: bool) -> _Place | None:
    """The place of the searched lines: the first one, or the one nearest to the line that the edit names."""
    ranges = [(region.path, *span) for region, span in spans.items()]
    if not only_regions:
        ranges += [(path, 0, len(rows)) for path, rows in texts.items()]
    search = edit.search
    anchor = next(n for n, line in enumerate(search) if line.strip()) if edit.anchor is None else edit.anchor
    for normalise in (str, str.rstrip, str.strip):
        searched = [normalise(line) for line in search]
        for path, low, high in ranges:
            rows = [normalise(line) for line in texts[path]]
            starts = (
                start
                for start in range(low, high - len(searched) + 1)
                if rows[start : start + len(searched)] == searched
            )
            start = (
                min(starts, key=lambda start: abs(start + 1 - edit.line_hint), default=None)
                if edit.line_hint
                else next(starts, None)
            )
            if start is not None:
                file_indentation, answer_indentation = (
                    indentation_of(texts[path][start + anchor]),
                    indentation_of(search[anchor]),
                )
                if edit.origins and edit.anchor is None and len(file_indentation) - len(answer_indentation) == 1:
                    answer_indentation = file_indentation  # the model omitted the space that marks context lines
                return _Place(path=path, start=start, answer_margin=answer_indentation, file_margin=file_indentation)
    return None


def _reindent_line(line: str, place: _Place) -> str:
    if place.answer_margin == place.file_margin or not line.strip():
        return line
    if line.startswith(place.answer_margin):
        return place.file_margin + line[len(place.answer_margin) :]
    return line


def _not_found(texts: dict[str, list[str]], search: Sequence[str]) -> Finding:
    first_line = next(line.strip() for line in search if line.strip())
    path = next(iter(texts))
    near = difflib.get_close_matches(first_line, [row.strip() for row in texts[path] if row.strip()], n=1)
    hint = f"; the nearest line is `{near[0][:120]}`" if near and near[0] != first_line else ""
    message = f"The lines to be replaced, beginning with `{first_line[:120]}`, are not in {path} as written{hint}."
    return Finding(error_class=SEARCH_NOT_FOUND, message=message)
