"""Reads a candidate from an answer that may change any file: search/replace blocks, diffs, functions, new files.

What the answer changes becomes regions: the functions around its changes, and single lines elsewhere. It must not know
who reads and writes files, nor whether the candidate passes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from greenloop.core.compose import compose, with_imports
from greenloop.core.python.ast_source import statements_of
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import keep_ends, main_line_end, with_plain_ends
from greenloop.drafting.candidates.answers import code_blocks, parse_answer, unified_diff
from greenloop.drafting.candidates.answers.changed_regions import changed_regions, with_file
from greenloop.drafting.candidates.answers.code_blocks import BlockEdit
from greenloop.drafting.candidates.answers.line_edits import (
    Place,
    find_places,
    nearest_line,
    relaxed_variants,
    replacement,
    with_whole_lines,
)
from greenloop.drafting.prompt import fenced

NOT_FOUND, AMBIGUOUS, NOT_EDITABLE = "SearchNotFound", "SearchAmbiguous", "NotEditable"
MOST_EDITS = 200  # of one answer
SHOWN = 120  # characters of a line that is named


@dataclass(frozen=True, kw_only=True)
class EditedFiles:
    """The files that an answer may be about.

    `text_of` returns the user's text of a workspace file (None: there is none); `known` are those that the model was
    shown, the most suspicious first; `why_not` says why a file may not be changed ("" where it may).
    """

    text_of: Callable[[str], str | None]
    known: Sequence[str]
    why_not: Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Content of an answer: a `candidate` for the `problem`, which knows every file that it changes, or a `finding`.

    `left_out` are sentences about parts of the answer that do not count.
    """

    problem: Problem
    candidate: Candidate | None = None
    finding: Finding | None = None
    left_out: tuple[str, ...] = ()


@dataclass(kw_only=True)
class _Change:
    """The texts while edits are applied to them; `base` has those of the attempt that the answer builds on."""

    files: EditedFiles
    base: Mapping[str, str]
    texts: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def text(self, path: str) -> str | None:
        """The newest text of a file."""
        return self.texts[path] if path in self.texts else self.base.get(path, self.files.text_of(path))

    def resolve(self, path: str) -> str:
        """The file that a path in an answer means, which may lack its first folders or have some more."""
        path = str(PurePosixPath(path)) if path else ""
        if not path or self.text(path) is not None:
            return path
        alike = [each for each in self.files.known if f"/{each}".endswith(f"/{path}") or path.endswith(f"/{each}")]
        return alike[0] if len(alike) == 1 else path


def read(
    answer: str,
    problem: Problem,
    files: EditedFiles,
    *,
    bases: Sequence[Candidate | None] = (None,),
    truncated: bool = False,
) -> Reading:
    """Reads an answer; edits apply to the first of the `bases` (None: the user's code) in which all their lines are.

    `truncated`: the answer stopped at its token limit. Error classes of findings: those of `parse_answer.read`, and
    SearchNotFound, SearchAmbiguous, NotEditable.
    """
    text = code_blocks.strip_thinking(answer)
    edits = code_blocks.find_edits(text) or unified_diff.find_edits(text, truncated=truncated)
    if not edits:
        return _read_code(text, problem, files, truncated=truncated)
    if any(not edit.closed for edit in edits):
        message = "The answer was cut off inside one of its edits."
        return Reading(problem=problem, finding=Finding(error_class=parse_answer.TRUNCATED, message=message))
    first: Finding | None = None
    for base in bases:
        change = _Change(files=files, base=_own_texts(problem, base))
        finding = _apply(change, edits[:MOST_EDITS])
        if finding is None:
            return _as_candidate(problem, change)
        first = first or finding
    return Reading(problem=problem, finding=first)


def _own_texts(problem: Problem, base: Candidate | None) -> dict[str, str]:
    """The texts that edits apply to: the user's, without stubs, with those of the base over them."""
    composed = compose(problem, base) if base else {}
    return {**{path: text for path, text in problem.originals.items() if text is not None}, **composed}


def _apply(change: _Change, edits: Sequence[BlockEdit]) -> Finding | None:
    """Applies the edits one after the other; returns why one of them cannot be."""
    for edit in edits:
        path = change.resolve(edit.path)
        if path and (why := change.files.why_not(path)):
            change.left_out.append(f"`{path}` {why}.")
            continue
        if edit.is_deletion:
            return Finding(error_class=NOT_EDITABLE, message=f"`{path}` cannot be deleted: empty it, or leave it.")
        if not any(line.strip() for line in edit.search):
            if finding := _add(change, path, edit):
                return finding
        elif finding := _replace(change, path, edit):
            return finding
    if not change.texts and change.left_out:
        return Finding(error_class=NOT_EDITABLE, message=" ".join(dict.fromkeys(change.left_out)))
    return None


def _add(change: _Change, path: str, edit: BlockEdit) -> Finding | None:
    """Writes a new file, imports among those of one, or lines at its end: the search is empty."""
    if not path:
        return Finding(error_class=NOT_FOUND, message="A block without lines to search must name its file.")
    old, new = change.text(path), "\n".join(edit.replace).strip("\n") + "\n"
    added = statements_of(new) if path.endswith(".py") else ()
    if old is None or not old.strip():
        change.texts[path] = new
    elif added and all(isinstance(each, ast.Import | ast.ImportFrom) for each in added):
        change.texts[path] = with_imports(old, [ast.unparse(each) for each in added])
    else:
        gap = "\n\n" if path.endswith(".py") else ""
        change.texts[path] = f"{old.rstrip()}\n{gap}{new}"
    return None


def _replace(change: _Change, path: str, edit: BlockEdit) -> Finding | None:
    """Replaces the searched lines in the named file, else in the only shown file that has them."""
    named = [path] if path and change.text(path) is not None else []
    others = [each for each in change.files.known if each not in named and not change.files.why_not(each)]
    for paths in (named, others):
        matches = [match for each in paths if (match := _find(change, each, edit))]
        if len(matches) == 1:
            matches[0].apply(change)
            return None
        if matches:
            listed = ", ".join(f"`{match.path}`" for match in matches)
            message = f"The lines beginning with {_first_line(edit)} are in {listed}: name the file above the block."
            return Finding(error_class=AMBIGUOUS, message=message)
    return _not_found(change, path, edit)


@dataclass(frozen=True, kw_only=True)
class _Match:
    """An edit, or a variant of it with less around its change, and its place in the lines of a file."""

    path: str
    edit: BlockEdit
    rows: Sequence[str]
    place: Place

    def apply(self, change: _Change) -> None:
        rows, start = [*self.rows], self.place.start
        rows[start : start + len(self.edit.search)] = replacement(self.rows, self.edit, self.place)
        old = change.text(self.path) or ""
        change.texts[self.path] = keep_ends(old, "\n".join(rows), main_line_end(old))


def _find(change: _Change, path: str, edit: BlockEdit) -> _Match | None:
    """The only place of an edit in a file; of several, that nearest to the line that it names. None: no such place."""
    rows = with_plain_ends(change.text(path) or "").split("\n")
    for variant in relaxed_variants(edit):
        if places := find_places(rows, variant, [(0, len(rows))]):
            is_clear = len(places) == 1 or edit.line_hint
            return _Match(path=path, edit=variant, rows=rows, place=places[0]) if is_clear else None
    if whole := with_whole_lines(rows, edit):
        return _Match(path=path, edit=whole, rows=rows, place=find_places(rows, whole, [(0, len(rows))])[0])
    return None


def _not_found(change: _Change, path: str, edit: BlockEdit) -> Finding:
    shown = path if path and change.text(path) is not None else ""
    if path and not shown:
        return Finding(error_class=NOT_FOUND, message=f"There is no file `{path}`.")
    candidates = [shown] if shown else list(change.files.known)
    for each in candidates:
        rows = with_plain_ends(change.text(each) or "").split("\n")
        places = find_places(rows, edit, [(0, len(rows))])
        if len(places) > 1:
            lines = ", ".join(str(place.start + 1) for place in places[:5])
            message = f"The lines beginning with {_first_line(edit)} are several times in `{each}` (lines {lines}): "
            return Finding(error_class=AMBIGUOUS, message=message + "search for more of the lines around them.")
    near = (
        (nearest_line(with_plain_ends(change.text(each) or "").split("\n"), edit.search), each) for each in candidates
    )
    best = next((found for found in near if found[0][1]), None)
    hint = f"; the nearest line is {best[0][2]} of `{best[1]}`: `{best[0][1][:SHOWN]}`" if best else ""
    where = f"in `{shown}`" if shown else "in any file that you were shown"
    message = f"The lines beginning with {_first_line(edit)} are not {where}{hint}."
    return Finding(error_class=NOT_FOUND, message=message)


def _first_line(edit: BlockEdit) -> str:
    return f"`{next(line.strip() for line in edit.search if line.strip())[:SHOWN]}`"


# -- from texts to a candidate --------------------------------------------------------------------------------------


def _as_candidate(problem: Problem, change: _Change) -> Reading:
    for path in change.texts:
        problem = with_file(problem, path, change.files.text_of(path))
    texts: dict[Region, str] = {}
    for path, text in {**_changed_base(problem, change), **change.texts}.items():
        texts |= changed_regions(path, problem.files[path], text)
    known = {region.path for region in (*problem.regions, *problem.suspects)}
    others = {region.path: problem.originals[region.path] for region in texts if region.path not in known}
    left_out = tuple(dict.fromkeys(change.left_out))
    return Reading(problem=problem, candidate=Candidate(texts=texts, originals=others), left_out=left_out)


def _changed_base(problem: Problem, change: _Change) -> dict[str, str]:
    """The files that only the base changes."""
    return {path: text for path, text in change.base.items() if text != problem.originals.get(path)}


# -- answers with code alone ----------------------------------------------------------------------------------------


def _read_code(text: str, problem: Problem, files: EditedFiles, *, truncated: bool) -> Reading:
    """Reads whole functions and whole new files; a file that is named is known to the problem then."""
    change, others = _Change(files=files, base={}), list[code_blocks.Block]()
    blocks = code_blocks.find_blocks(text)
    for block in blocks:
        path = change.resolve(block.path)
        own = files.text_of(path) if path else None
        is_whole = path and (own is None or not path.endswith(".py")) and (own is not None or "/" in path)
        if path and (why := files.why_not(path)):
            change.left_out.append(f"`{path}` {why}.")
        elif is_whole and not block.closed:
            message = f"The answer was cut off inside `{path}`."
            return Reading(problem=problem, finding=Finding(error_class=parse_answer.TRUNCATED, message=message))
        elif is_whole:
            change.texts[path] = block.text.strip("\n") + "\n"
        else:
            others.append(block)
            if own is not None and path not in problem.files:
                shown = Region(path=path, qualname="", start=1, end=0)
                problem = replace(with_file(problem, path, own), suspects=(*problem.suspects, shown))
    if not blocks or len(others) == len(blocks):
        return _as_reading(parse_answer.read(text, problem, truncated=truncated, wide=True), problem, change)
    if not change.texts and not others:
        message = " ".join(dict.fromkeys(change.left_out))
        return Reading(problem=problem, finding=Finding(error_class=NOT_EDITABLE, message=message))
    rest = "\n".join(f"{block.path}\n{fenced(block.text)}" for block in others)
    found = parse_answer.read(rest, problem, truncated=truncated, wide=True) if others else None
    if not change.texts:
        return _as_reading(found, problem, change)
    whole = _as_candidate(problem, change)
    if isinstance(found, Candidate) and whole.candidate:
        return replace(whole, candidate=replace(found, texts={**found.texts, **whole.candidate.texts}))
    return whole


def _as_reading(found: Candidate | Finding | None, problem: Problem, change: _Change) -> Reading:
    left_out = tuple(dict.fromkeys(change.left_out))
    if isinstance(found, Candidate):
        return Reading(problem=problem, candidate=found, left_out=left_out)
    return Reading(problem=problem, finding=found, left_out=left_out)
