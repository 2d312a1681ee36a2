"""Stacks further changes on the line of an edit, so that undoing a single one does not mend it.

It must not know whether tests notice them.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from greenloop.bench.ast_edits import Edit, Source, apply_edits
from greenloop.bench.operators import Function, all_edits

# Random orders of changes that are tried for one line.
MAX_ORDERS = 8


def stack_edits(
    source: Source, function: Function, chosen: Sequence[Edit], depth: int, rng: random.Random
) -> tuple[Edit, ...] | None:
    """Each edit with `depth - 1` further changes of its line; None where a line has no room for so many."""
    if depth == 1:
        return tuple(chosen)
    stacked = [_stack(source, function, edit, depth, rng) for edit in chosen]
    complete = tuple(edit for edit in stacked if edit is not None)
    return complete if len(complete) == len(stacked) else None


def _stack(source: Source, function: Function, edit: Edit, depth: int, rng: random.Random) -> Edit | None:
    """One edit of the whole line that no single change of the code makes."""
    singly = {_code(apply_edits(source.text, each)) for each in all_edits(source, function)}
    for _order in range(MAX_ORDERS):
        mutant = _deepen(source, function, edit, depth, rng)
        if mutant is not None and _code(apply_edits(source.text, mutant)) not in singly:
            return mutant
    return None


def _deepen(source: Source, function: Function, edit: Edit, depth: int, rng: random.Random) -> Edit | None:
    """One random order of changes; each gives code that is new, and is by another operator than the one before."""
    mutant = _as_line(source, edit, apply_edits(source.text, edit))
    seen = {None, _code(source.text)}
    while mutant is not None and len(mutant.operators) < depth:
        text = apply_edits(source.text, mutant)
        if _code(text) is None:
            return None
        seen.add(_code(text))
        mutated = Source(text)
        edits = [each for each in _edits_of_line(mutated, function, edit.line) if each.operator != mutant.operators[-1]]
        rng.shuffle(edits)
        lines = ((each.operator, _as_line(source, edit, apply_edits(text, each))) for each in edits)
        stacked = mutant.stacked
        mutant = next(
            (
                replace(line, stacked=(*stacked, operator))
                for operator, line in lines
                if line is not None and _code(apply_edits(source.text, line)) not in seen
            ),
            None,
        )
    return mutant


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
    """What the text means, so that two spellings of the same code are one; None where it does not parse."""
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return None
