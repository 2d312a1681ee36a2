"""Samples, then each as the anchor that is repaired with what the others have: the best first.

After Eigen-1 (arXiv 2509.21193): in its hierarchical repair every candidate in turn is the anchor and the others are
references, and only candidates below a quality are refined. The share of tests passed is the quality here.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.election import is_valid, rank
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.search._progress import count_since_gain, refine_or_restart
from greenloop_lab.drafting.search._temperatures import sample_temperatures
from greenloop_lab.drafting.shown_parts import name_passed, render_ideas

SAMPLES = 4
REFERENCES = 3  # other candidates whose parts are shown
PATIENCE = 4  # attempts without a better score, after which other anchors are not tried
ANCHOR = "anchor"  # the template that shows what the others have


def plan(problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """A round of samples, repairs with ideas of the others, then as `restart_on_repeat`."""
    if len(attempts) == 1:
        return [
            Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=heat)
            for heat in sample_temperatures(SAMPLES)
        ]
    ranked = sorted(filter(is_valid, attempts[1:]), key=lambda each: (*rank(each), each.number), reverse=True)
    anchored = {each.parent for each in attempts if each.draft and each.draft.prompt == ANCHOR}
    anchor = next((each for each in ranked if each.number not in anchored), None)
    if anchor is None or len(ranked) == 1 or _is_stalled(attempts):
        return refine_or_restart(attempts)
    references = [each for each in ranked if each is not anchor][:REFERENCES]
    hint = f"It passes {name_passed(anchor)}.\n\n{render_ideas(problem, anchor, references)}"
    return [Draft(parent=anchor.number, move=Move.REFINE, role=Role.REFINER, prompt=ANCHOR, hint=hint)]


def _is_stalled(attempts: Sequence[Attempt]) -> bool:
    return min(count_since_gain(attempts), len(attempts) - 1 - SAMPLES) >= PATIENCE
