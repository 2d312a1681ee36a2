"""The changes of a function or an assignment that are run before any model is asked, the likeliest first.

Deleting a statement comes late, since it fits tests too easily (Qi et al., "An analysis of patch plausibility and
correctness", 2015), but in a long function before its names, of which there are too many for the time there is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum

from greenloop.core import entry_points
from greenloop.core.compose import text_in
from greenloop.core.python.ast_source import FUNCTIONS, Fragment, parse_fragment, statement_blocks
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.answers.imports_and_helpers import add_missing_imports, with_missing_imports
from greenloop.drafting.candidates.changes.change import Change, ChangeKind, ChangeMaker, Edit, change_of
from greenloop.drafting.candidates.changes.one_token import one_token

MOST = 240  # changes of one stage
SHORT = 80  # changes of a function for which there is time in any case
FIRST = (ChangeKind.SLIP, ChangeKind.SYNTAX, ChangeKind.SYMBOL)  # those of a stage that come before all others
SHORT_ORDER = ((*FIRST, ChangeKind.NAME), (ChangeKind.DELETION,))
LONG_ORDER = (FIRST, (ChangeKind.DELETION,), (ChangeKind.NAME,))


class Stage(StrEnum):
    """Group of changes that are tried together: if one of a stage passes, the next stages are not tried.

    `SLIPS`: what a failure, or the code alone, points to. `EDITS`: what might be meant.
    """

    SLIPS = "slips"
    EDITS = "edits"


def mutants(problem: Problem, attempt: Attempt, stage: Stage) -> Iterator[Candidate]:
    """Candidates that differ from the attempt's code by one change of the stage; the most suspicious lines first.

    Slips are those of the change makers that are installed. Imports that the code lacks are added to each candidate.
    """
    makers: tuple[ChangeMaker, ...] = entry_points.load_all(entry_points.CHANGE_MAKERS) if stage is Stage.SLIPS else ()
    text_makers = [each.change_text for each in makers] if stage is Stage.SLIPS else [moved_statements, one_token]
    yielded: set[str] = set()
    ranked: list[tuple[float, int, Region, Change]] = []
    previous = with_missing_imports(problem, attempt) or attempt.candidate
    if attempt.candidate is None:
        yield from (
            each
            for region in problem.regions
            for maker in makers
            for each in maker.change_files(problem, region, attempt)
        )
    for region in (each for each in problem.regions if not each.imports):
        text = with_plain_ends(text_in(problem, previous, region))
        scores = problem.suspicion.get(region.path, {}) if attempt.candidate is None else {}
        for change in [each for make in text_makers for each in make(text, attempt)]:
            score = scores.get(region.start + change.line - 1, 0.0 if scores else 1.0)
            ranked.append((-score, len(ranked), region, change))
    ranked.sort(key=lambda item: item[:2])
    in_order = LONG_ORDER if len(ranked) > SHORT else SHORT_ORDER
    chosen = [item for kinds in in_order for item in ranked if item[3].kind in kinds]
    for _score, _order, region, change in chosen[:MOST]:
        if change.text in yielded:
            continue
        yielded.add(change.text)
        base = previous or Candidate(texts={})
        candidate = replace(base, texts={**base.texts, region: change.text}, imports=(*base.imports, *change.imports))
        yield add_missing_imports(problem, candidate) if change.kind is ChangeKind.SYNTAX else candidate


# -- moved statements -------------------------------------------------------------------------------------------------


_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith)
_SIMPLE = (ast.Return, ast.Assign, ast.AugAssign, ast.Expr, ast.Break, ast.Continue, ast.Raise)


def moved_statements(text: str, _attempt: Attempt) -> Iterator[Change]:
    """Yields the changes of a function that move one statement on one line by a level."""
    parsed = parse_fragment(text)
    if not isinstance(parsed, Fragment):
        return
    functions = [node for item in parsed.body for node in ast.walk(item) if isinstance(node, FUNCTIONS)]
    for node in ast.walk(functions[0]) if functions else ():
        for block in statement_blocks(node):
            yield from (change_of(parsed, [edit], ChangeKind.SYMBOL) for edit in _moves(block, parsed))


def _moves(block: Sequence[ast.stmt], parsed: Fragment) -> Iterator[Edit]:
    for outer, after in zip(block, [*block[1:], None], strict=False):
        if not isinstance(outer, _BLOCKS) or outer.lineno == outer.body[0].lineno:
            continue
        last = outer.orelse or outer.body if not isinstance(outer, ast.With | ast.AsyncWith) else outer.body
        here, inner = (parsed.lines[each.lineno - 1][: each.col_offset] for each in (outer, last[-1]))
        if len(last) > 1 and _may_move(last[-1], inner):
            yield Edit(line=last[-1].lineno, end=len(inner), new=here)
        if after is not None and _may_move(after, here) and not inner.strip():
            yield Edit(line=after.lineno, end=len(here), new=inner)


def _may_move(statement: ast.stmt, before: str) -> bool:
    """True if it stands alone on its line."""
    return isinstance(statement, _SIMPLE) and statement.lineno == statement.end_lineno and not before.strip()


# -- values in data files ---------------------------------------------------------------------------------------------


def corrected_data(problem: Problem) -> list[Candidate]:
    """Returns a candidate for each data file in which one line has the observed value."""
    return [
        Candidate(texts={Region(path=each.path, qualname="", start=each.line, end=each.line): each.corrected})
        for each in problem.data
        if each.line
    ]
