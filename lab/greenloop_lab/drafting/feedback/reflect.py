"""Keeps the model's own reflections on its failures from attempt to attempt.

After Reflexion (arXiv 2303.11366): the next draft sees the code, its test results and the reflections so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback.cases import list_cases
from greenloop_lab.drafting.feedback._critic import as_paragraph, worth_asking

TOKENS = 160  # of one reflection
KEPT = 3  # reflections that are shown, the newest included


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """The failing cases and the newest reflections, oldest first; the field `reflection` holds the newest alone."""
    failures = describe_newest(problem, attempts, list_cases)
    earlier = [
        str(note.fields["reflection"])
        for attempt in attempts[:-1]
        for note in attempt.notes
        if "reflection" in note.fields
    ]
    if not worth_asking(attempts):
        return FeedbackNote(text=_text(failures, earlier))
    reply = await ask(problem, attempts[-1], tools, "reflect", tokens=TOKENS, failures=failures)
    if not (reflection := as_paragraph(reply)):
        return FeedbackNote(text=_text(failures, earlier), usage=reply.usage)
    return FeedbackNote(
        text=_text(failures, [*earlier, reflection]),
        fields={"reflection": reflection, "explanation": reflection},
        usage=reply.usage,
    )


def _text(failures: str, reflections: Sequence[str]) -> str:
    rows = [f"- {reflection}" for reflection in reflections[-KEPT:]]
    return "\n".join([failures, "", "Reflections on the attempts so far:", *rows]) if rows else failures
