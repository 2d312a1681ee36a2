"""The Thinker and the Critic of CodeTree (arXiv 2411.04329), for the search part `tree`.

Fields of the note on the user's own code: `strategies`, ways to solve the task. On a failed attempt: the critic's
`score` (0 to 5), `reject` (the strategy leads nowhere) or `approve` (it is promising), and `reflections`, each a change
to make. Critic and reflections are one question here, since small models spend most of their time on reading.
The texts reach the model as hints of the drafts that follow them; another part must describe the failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask, list_items
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback.cases import list_cases
from greenloop_lab.drafting.feedback._critic import named_field, parse_number

STRATEGIES = 3
REFLECTIONS = 2
BEST = 5.0
TOKENS = 160


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """Strategies for the user's code; a score and reflections for an attempt that was run."""
    newest = attempts[-1]
    if newest.finding:
        return FeedbackNote(text="")
    is_baseline = newest.number == 0
    reply = await ask(
        problem,
        newest,
        tools,
        "codetree_strategies" if is_baseline else "codetree_critic",
        tokens=TOKENS,
        role=Role.PLANNER if is_baseline else Role.CRITIC,
        failure=describe_newest(problem, attempts, list_cases),
        most=str(STRATEGIES if is_baseline else REFLECTIONS),
    )
    fields = {"strategies": list_items(reply.text, STRATEGIES)} if is_baseline else parse_opinion(reply.text)
    return FeedbackNote(text="", fields=fields, usage=reply.usage)


def parse_opinion(answer: str) -> dict[str, Any]:
    """The critic's answer as fields; unreadable ones are left out and are not an error."""
    fields: dict[str, Any] = {"reflections": list_items(answer, REFLECTIONS)}
    score = parse_number(named_field(answer, "score"), BEST)
    if score is not None:
        fields["score"] = score
    decision = named_field(answer, "decision")
    if decision.startswith("give up"):
        fields["reject"] = True
    elif decision.startswith("promising"):
        fields["approve"] = True
    return fields
