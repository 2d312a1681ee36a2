"""The model divides the task into modules of its own, plans with them, and refines its plan.

After Auto-Evolve (arXiv 2410.06328): modules instead of a fixed list of instructions, then a structure made of them,
then its refinement. Stages that `planner.skip` may leave out: `modules`, `plan` and `refinement` of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.core.records.usage import Usage
from greenloop.drafting.feedback.planners._plans import (
    EMPTY,
    ask_planner,
    is_skipped,
    join_artefacts,
    make_note,
    read_plan,
)

STAGES = ("modules", "plan", "refinement")
PROMPTS = {"modules": "self_modules", "plan": "self_modules_plan", "refinement": "self_modules_refine"}


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """Modules and the plan made of them for the user's own code; nothing for any other attempt."""
    newest = attempts[-1]
    if newest.number:
        return FeedbackNote(text="")
    artefacts: dict[str, str] = {}
    usage, unparsable = Usage(), ""
    stages = [stage for stage in STAGES if not is_skipped(tools, stage)]
    for stage in stages:
        if stage == "refinement" and not artefacts:
            continue  # there is nothing to refine
        earlier = join_artefacts(artefacts)
        reply = await ask_planner(problem, newest, tools, PROMPTS[stage], earlier=earlier)
        usage += reply.usage
        if text := read_plan(reply.text):
            artefacts[stage] = text
        else:
            unparsable = unparsable or reply.text or EMPTY
    plan = artefacts.get("refinement") or join_artefacts(artefacts)
    return make_note([plan] if plan else [], artefacts, usage, unparsable, is_complete=not stages)
