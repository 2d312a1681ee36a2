"""Self-reflections: what went wrong each time, in the model's own words, kept from attempt to attempt.

Reflexion (arXiv 2303.11366): the next draft sees the code, its test results and the reflections so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Attempt, Note, Problem, Role
from greenloop.core.ports import Tools
from greenloop.feedback._cases import listed
from greenloop.feedback._critic import words, worth_asking
from greenloop.feedback._findings import told
from greenloop.feedback._question import ask, code_of

TOKENS = 160  # of one reflection
KEPT = 3  # reflections, the newest included


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """The failing cases and the newest reflections, oldest first; the field `reflection` holds the newest alone."""
    failures = told(problem, attempts, listed)
    earlier = [
        str(note.fields["reflection"])
        for attempt in attempts[:-1]
        for note in attempt.notes
        if "reflection" in note.fields
    ]
    if not worth_asking(attempts):
        return Note(text=_text(failures, earlier))
    code = code_of(problem, attempts[-1])
    reply = await ask(tools, Role.CRITIC, "reflect", tokens=TOKENS, code=code, failures=failures)
    if not (reflection := words(reply)):
        return Note(text=_text(failures, earlier), usage=reply.usage)
    return Note(
        text=_text(failures, [*earlier, reflection]),
        fields={"reflection": reflection, "explanation": reflection},
        usage=reply.usage,
    )


def _text(failures: str, reflections: Sequence[str]) -> str:
    rows = [f"- {reflection}" for reflection in reflections[-KEPT:]]
    return "\n".join([failures, "", "Reflections on the attempts so far:", *rows]) if rows else failures
