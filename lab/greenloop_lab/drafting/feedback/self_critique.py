"""The model's critique of its own code, without execution: a baseline for feedback by execution.

Only the harness uses it: a small model finds faults in correct code and grows more confident while it gets worse.
`confidence` is recorded; no decision depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask
from greenloop_lab.drafting.feedback._critic import named_field, parse_number

TOKENS = 240
CORRECT = "CORRECT"


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """A critique of the newest answer; `stop` is set where the critic finds no mistake."""
    newest = attempts[-1]
    if newest.number == 0:
        return FeedbackNote(text="")
    reply = await ask(problem, newest, tools, "self_critique", tokens=TOKENS, instruction=problem.instruction)
    text = reply.text.strip()
    confidence = parse_number(named_field(text, "confidence"), 1.0)
    fields = {} if confidence is None else {"confidence": confidence}
    return FeedbackNote(text=text, stop=text.startswith(CORRECT), fields=fields, usage=reply.usage)
