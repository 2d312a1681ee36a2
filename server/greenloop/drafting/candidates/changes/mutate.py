"""The changes of a function or an assignment that are run before any model is asked, the likeliest first.

Deleting a statement comes late, since it fits tests too easily (Qi et al., "An analysis of patch plausibility and
correctness", 2015), but in a long function before its names, of which there are too many for the time there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from greenloop.core import entry_points
from greenloop.core.compose import text_in
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.changes.change import Change, ChangeKind, ChangeMaker
from greenloop.drafting.candidates.changes.missing_imports import add_missing_imports, with_missing_imports
from greenloop.drafting.candidates.changes.moved_statements import moved_statements
from greenloop.drafting.candidates.changes.one_token import one_token

MOST = 240  # changes of one stage
SHORT = 80  # changes of a function for which there is time in any case
FIRST = (ChangeKind.SLIP, ChangeKind.SYNTAX, ChangeKind.SYMBOL)  # those of a stage that come before all others
SHORT_ORDER = ((*FIRST, ChangeKind.NAME), (ChangeKind.DELETION,))
LONG_ORDER = (FIRST, (ChangeKind.DELETION,), (ChangeKind.NAME,))


class Stage(StrEnum):
    """Group of changes that are tried together: if one of a stage passes, the next stages are not tried.

    `SLIPS`: what a failure, or the code by itself, points to. `EDITS`: what might be meant.
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
