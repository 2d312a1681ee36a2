"""The planner and the debugger of CodeSim (arXiv 2502.05664), both of which simulate.

Before any code: a plan, which the model follows on the tests by hand; a plan that it judges wrong is made once more.
After a failure: the model follows a failing test through plan and code, and says which of the two is wrong.
Stages that `planner.skip` may leave out: `simulation` of the plan and `debugging`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask
from greenloop.drafting.feedback.cases import failing_rows
from greenloop_lab.drafting.feedback._critic import WORDS, as_paragraph, named_field, worth_asking
from greenloop_lab.drafting.feedback._plans import (
    EMPTY,
    ask_planner,
    is_skipped,
    list_tests,
    make_note,
    read_plan,
    shown_tests,
)

STAGES = ("simulation", "debugging")
TOKENS = 400  # of a simulation
TESTS = 2  # tests that a plan is followed for
FAILING = 2  # failing tests that are simulated

_WRONG = re.compile(r"\b(?:wrong|incorrect|not right|not correct|needs? (?:to be )?(?:modif|chang)\w*)", re.IGNORECASE)
_RIGHT = re.compile(r"\b(?:right|correct)\b", re.IGNORECASE)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """A simulated plan for the user's own code; a simulated failure for an attempt that was run."""
    if attempts[-1].number == 0:
        return await _plan(problem, attempts[-1], tools)
    if is_skipped(tools, "debugging") or not worth_asking(attempts) or not attempts[-1].verdict.failing:
        return FeedbackNote(text="")
    return await _debug(problem, attempts[-1], tools)


def judge_plan(answer: str) -> bool | None:
    """Does a simulation say that the plan is right? None where it does not say."""
    text = named_field(answer, "verdict") or answer.rstrip().rpartition("\n")[2]
    if _WRONG.search(text):
        return False
    return True if _RIGHT.search(text) else None


async def _plan(problem: Problem, attempt: Attempt, tools: Tools) -> FeedbackNote:
    reply = await ask_planner(problem, attempt, tools, "plan")
    plan, usage = read_plan(reply.text), reply.usage
    if not plan or is_skipped(tools, "simulation"):
        return make_note([plan] if plan else [], {"plan": plan}, usage, "" if plan else reply.text)
    tests = list_tests(shown_tests(problem)[:TESTS])
    simulated = await ask_planner(problem, attempt, tools, "codesim_simulate", tokens=TOKENS, plan=plan, tests=tests)
    usage += simulated.usage
    artefacts = {"plan": plan, "simulation": simulated.text.strip()[:WORDS]}
    is_right = judge_plan(simulated.text)
    if is_right is None:
        return make_note([plan], artefacts, usage, simulated.text.strip().rpartition("\n")[2] or EMPTY)
    if is_right:
        return make_note([plan], artefacts, usage)
    again = await ask_planner(problem, attempt, tools, "codesim_replan", plan=plan, simulation=simulated.text)
    better = read_plan(again.text)
    artefacts = {"first plan": plan, "simulation": artefacts["simulation"], "plan": better or plan}
    return make_note([better or plan], artefacts, usage + again.usage, "" if better else again.text or EMPTY)


async def _debug(problem: Problem, attempt: Attempt, tools: Tools) -> FeedbackNote:
    plan = attempt.draft.hint if attempt.draft else ""
    failures = "\n".join(failing_rows(problem, attempt)[:FAILING])
    reply = await ask(problem, attempt, tools, "codesim_debug", tokens=TOKENS, plan=plan, failures=failures)
    if not (explanation := as_paragraph(reply)):
        return FeedbackNote(text="", usage=reply.usage)
    text = f"Followed by hand: {explanation}"
    return FeedbackNote(text=text, fields={"explanation": explanation}, usage=reply.usage)
