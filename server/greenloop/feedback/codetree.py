"""The Thinker and the Critic of CodeTree (arXiv 2411.04329), for the search part `tree`.

Of the user's own code: `strategies`, ways to solve the task. Of a failed attempt: the critic's `score` (0 to 5),
`reject` (the strategy leads nowhere) or `approve` (it is promising), and `reflections`, each a thing to change.
Critic and reflections are one question here, for a small model's time goes into reading.
The texts reach the model as hints of the drafts that follow them; what failed, another part must say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from greenloop.core.nouns import Attempt, Note, Problem, Role
from greenloop.core.ports import Tools
from greenloop.feedback import cases
from greenloop.feedback._question import ask, bullets, code_of, named, names_of, number

STRATEGIES = 3
REFLECTIONS = 2
BEST = 5.0
TOKENS = 160


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """Strategies for the user's code, an opinion and reflections for an attempt that was run."""
    newest = attempts[-1]
    if newest.finding:
        return Note(text="")
    first = newest.number == 0
    failure = (await cases.describe(problem, attempts, tools)).text
    reply = await ask(
        tools,
        Role.PLANNER if first else Role.CRITIC,
        "codetree_strategies" if first else "codetree_critic",
        tokens=TOKENS,
        names=names_of(problem),
        code=code_of(problem, newest),
        failure=failure,
        most=str(STRATEGIES if first else REFLECTIONS),
    )
    fields = {"strategies": bullets(reply.text, STRATEGIES)} if first else opinion(reply.text)
    return Note(text="", fields=fields, usage=reply.usage)


def opinion(answer: str) -> dict[str, Any]:
    """The critic's answer as fields; what cannot be read is left out, and never stops anything."""
    fields: dict[str, Any] = {"reflections": bullets(answer, REFLECTIONS)}
    score = number(named(answer, "score"), 0.0, BEST)
    if score is not None:
        fields["score"] = score
    decision = named(answer, "decision")
    if decision.startswith("give up"):
        fields["reject"] = True
    elif decision.startswith("promising"):
        fields["approve"] = True
    return fields
