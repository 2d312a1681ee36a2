"""The stages of a software project in words: requirements, design as a state machine, pseudocode, review of the tests.

After Lifecycle-Aware Code Generation (arXiv 2510.24019), whose stages also train models. Each stage sees what the
earlier ones wrote, the code is written from all of them, and the review is about the tests that it fails.
Stages that `planner.skip` may leave out: each of them; without any, nothing is asked before the code.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask
from greenloop.drafting.feedback.cases import list_cases
from greenloop_lab.drafting.feedback._critic import as_paragraph, worth_asking
from greenloop_lab.drafting.feedback._plans import (
    Stage,
    ask_stages,
    is_skipped,
    join_artefacts,
    make_note,
    read_text,
)

BEFORE = (
    Stage(name="requirements", template="lifecycle_requirements"),
    Stage(name="design", template="lifecycle_design"),
    Stage(name="pseudocode", template="lifecycle_pseudocode", read=read_text),
)
STAGES = (*(stage.name for stage in BEFORE), "review")
TOKENS = 200  # of each stage


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """Returns the stages' texts for the user's own code; a review of the failing tests for an attempt that was run."""
    newest = attempts[-1]
    if newest.number == 0:
        return await _plan(problem, newest, tools)
    if is_skipped(tools, "review") or not worth_asking(attempts) or not newest.verdict.failing:
        return FeedbackNote(text="")
    plan = newest.draft.hint if newest.draft else ""
    failures = list_cases(problem, newest)
    reply = await ask(problem, newest, tools, "lifecycle_review", tokens=TOKENS, plan=plan, failures=failures)
    if not (review := as_paragraph(reply)):
        return FeedbackNote(text="", usage=reply.usage)
    return FeedbackNote(
        text=f"Review of the tests: {review}",
        fields={"explanation": review, "artefacts": {"review": review}},
        usage=reply.usage,
    )


async def _plan(problem: Problem, attempt: Attempt, tools: Tools) -> FeedbackNote:
    stages = [stage for stage in BEFORE if not is_skipped(tools, stage.name)]
    artefacts, usage, unparsable = await ask_stages(problem, attempt, tools, stages, tokens=TOKENS)
    plan = join_artefacts(artefacts)
    return make_note([plan] if plan else [], artefacts, usage, unparsable, is_complete=not stages)
