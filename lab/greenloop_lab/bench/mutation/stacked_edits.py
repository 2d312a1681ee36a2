"""Stacks further changes on the line of an edit, so that undoing a single one does not repair it.

It must not know whether tests notice them.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from greenloop_lab.bench.mutation.ast_edits import Edit, Source, apply_edits
from greenloop_lab.bench.mutation.operators import Function, all_edits

# Random orders of changes that are tried for one line.
MAX_ORDERS = 4
# Edits of one function on which further ones are stacked.
MAX_STACKED = 60


def stack_edits(source: Source, function: Function, depth: int, rng: random.Random) -> list[Edit]:
    """The edits of a function, each with `depth - 1` further changes of its line; without those that have no room."""
    edits = all_edits(source, function)
    if depth == 1:
        return edits
    chosen = rng.sample(edits, min(len(edits), MAX_STACKED))
    stacked = (_stack(source, function, edit, depth, rng) for edit in sorted(chosen, key=edits.index))
    return [edit for edit in stacked if edit is not None]


def _stack(source: Source, function: Function, edit: Edit, depth: int, rng: random.Random) -> Edit | None:
    """One edit of the whole line that no single change of the code makes."""
    start, end = source.row(edit.line)
    nearby = [each for each in all_edits(source, function) if each.end > start and each.start < end]
    singly = {_code(apply_edits(source.text, each)) for each in nearby}
    for _order in range(MAX_ORDERS):
        mutant = _deepen(source, function, edit, depth, rng)
        if mutant is not None and _code(apply_edits(source.text, mutant)) not in singly:
            return mutant
    return None


def _deepen(source: Source, function: Function, edit: Edit, depth: int, rng: random.Random) -> Edit | None:
    """One random order of changes; each gives code that is new, and changes nothing that an earlier one has put in."""
    mutant = _as_line(source, edit, apply_edits(source.text, edit))
    seen = {None, _code(source.text)}
    spans = [(edit.start, edit.start + len(edit.text))]
    while mutant is not None and len(mutant.operators) < depth:
        text = apply_edits(source.text, mutant)
        if _code(text) is None:
            return None
        seen.add(_code(text))
        edits = [each for each in _edits_of_line(Source(text), function, edit.line) if not _is_within(each, spans)]
        rng.shuffle(edits)
        lines = ((each, _as_line(source, edit, apply_edits(text, each))) for each in edits)
        chosen = next(
            (
                (each, line)
                for each, line in lines
                if line is not None and _code(apply_edits(source.text, line)) not in seen
            ),
            None,
        )
        if chosen is None:
            return None
        each, line = chosen
        spans = [_move(span, each) for span in spans] + [(each.start, each.start + len(each.text))]
        mutant = replace(line, stacked=(*mutant.stacked, each.operator))
    return mutant


def _is_within(edit: Edit, spans: Sequence[tuple[int, int]]) -> bool:
    """Would it change what is in one of these places alone, as a constant that was put in?"""
    return any(start <= edit.start and edit.end <= end for start, end in spans)


def _move(span: tuple[int, int], edit: Edit) -> tuple[int, int]:
    """The place after the edit; that of the whole edit where it was a part of it."""
    change = len(edit.text) - (edit.end - edit.start)
    if edit.end <= span[0]:
        return span[0] + change, span[1] + change
    return span if edit.start >= span[1] else (min(span[0], edit.start), max(span[1], edit.end) + change)


def _edits_of_line(mutated: Source, function: Function, line: int) -> Iterator[Edit]:
    """The edits that stay within this line of the same function in the mutated module."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    same = [n for n in ast.walk(mutated.tree) if isinstance(n, kinds) and n.lineno == function.lineno]
    start, end = mutated.row(line)
    for node in same:
        yield from (each for each in all_edits(mutated, node) if start <= each.start and each.end < end)


def _as_line(source: Source, edit: Edit, mutated: str) -> Edit | None:
    """The change from the module to `mutated` as an edit of the whole line; None where more than it differs."""
    start, end = source.row(edit.line)
    rest = len(source.text) - end
    new_end = len(mutated) - rest
    row = mutated[start:new_end]
    is_same_around = mutated[:start] == source.text[:start] and mutated[new_end:] == source.text[end:]
    if not is_same_around or new_end <= start or row.count("\n") != source.text[start:end].count("\n"):
        return None
    return Edit(operator=edit.operator, line=edit.line, start=start, end=end, text=row) if row.strip() else None


def _code(text: str) -> str | None:
    """Returns the meaning of the text, so that two spellings of the same code are one; None where it does not parse."""
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return None
