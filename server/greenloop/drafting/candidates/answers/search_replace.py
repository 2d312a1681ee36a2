"""Applies search/replace blocks and hunks to a problem's files; the result is read as a module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from greenloop.core.compose import compose
from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.answers.code_blocks import Block, BlockEdit
from greenloop.drafting.candidates.answers.line_edits import (
    Place,
    find_places,
    nearest_line,
    relaxed_variants,
    replacement,
)

SEARCH_NOT_FOUND = "SearchNotFound"
MOST = 200  # edits of one answer that are applied

Spans = dict[Region, tuple[int, int]]


def apply_edits(problem: Problem, changes: Sequence[BlockEdit], base: Candidate | None = None) -> list[Block] | Finding:
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
            if not isinstance(result, BlockEdit):
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
    texts: dict[str, list[str]], spans: Spans, changes: Sequence[BlockEdit], *, only_regions: bool
) -> list[Block] | BlockEdit:
    """The modules after all edits, or the first edit that cannot be applied; `only_regions` spares other code."""
    extra_blocks = []
    before = {path: list(rows) for path, rows in texts.items()}
    own = {region.path for region in spans}
    for edit in changes:
        if not any(line.strip() for line in edit.search):
            extra_blocks.append(Block(text="\n".join(edit.replace)))
            continue
        matches = (
            (variant, *found)
            for variant in relaxed_variants(edit)
            if (found := _find(texts, spans, variant, only_regions=only_regions))
        )
        match = next(matches, None)
        if match is None:
            return edit
        variant, path, place = match
        rows = texts[path]
        new_lines, end = replacement(rows, variant, place), place.start + len(variant.search)
        rows[place.start : end] = new_lines
        spans = {
            region: _shift_span(span, place.start, end, len(new_lines)) if region.path == path else span
            for region, span in spans.items()
        }
    paths = [path for path, rows in texts.items() if path in own or rows != before[path]]
    return [*extra_blocks, *(block for path in paths for block in _blocks(path, texts[path], spans))]


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


def _find(
    texts: dict[str, list[str]], spans: Spans, edit: BlockEdit, *, only_regions: bool
) -> tuple[str, Place] | None:
    """The file and place of the searched lines: the first one, or the one nearest to the line that the edit names."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    for region, span in spans.items():
        ranges.setdefault(region.path, []).append(span)
    if not only_regions:
        for path, rows in texts.items():
            ranges.setdefault(path, []).append((0, len(rows)))
    found = ((path, find_places(texts[path], edit, ranges[path])) for path in ranges)
    return next(((path, places[0]) for path, places in found if places), None)


def _not_found(texts: dict[str, list[str]], search: Sequence[str]) -> Finding:
    path = next(iter(texts))
    first_line, near, _number = nearest_line(texts[path], search)
    hint = f"; the nearest line is `{near[:120]}`" if near and near != first_line else ""
    message = f"The lines to be replaced, beginning with `{first_line[:120]}`, are not in {path} as written{hint}."
    return Finding(error_class=SEARCH_NOT_FOUND, message=message)
