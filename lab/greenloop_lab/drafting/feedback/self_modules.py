"""The model divides the task into modules of its own, plans with them, and refines its plan.

After Auto-Evolve (arXiv 2410.06328): modules instead of a fixed list of instructions, then a structure made of them,
then its refinement. Stages that `planner.skip` may leave out: `modules`, `plan` and `refinement` of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop_lab.drafting.feedback._plans import (
    Stage,
    ask_stages,
    is_skipped,
    join_artefacts,
    make_note,
)

REFINEMENT = Stage(name="refinement", template="self_modules_refine", is_first=False)
BEFORE = (
    Stage(name="modules", template="self_modules"),
    Stage(name="plan", template="self_modules_plan"),
    REFINEMENT,
)
STAGES = tuple(stage.name for stage in BEFORE)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """Modules and the plan made of them for the user's own code; nothing for any other attempt."""
    newest = attempts[-1]
    if newest.number:
        return FeedbackNote(text="")
    stages = [stage for stage in BEFORE if not is_skipped(tools, stage.name)]
    artefacts, usage, unparsable = await ask_stages(problem, newest, tools, stages)
    plan = artefacts.get(REFINEMENT.name) or join_artefacts(artefacts)
    return make_note([plan] if plan else [], artefacts, usage, unparsable, is_complete=not stages)
