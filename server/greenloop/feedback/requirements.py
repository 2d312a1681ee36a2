"""The docstring's own demands as a checklist: a critic says which are not met, and those are told. It accepts nothing.

After Prompt-Free Collaborative Agents (arXiv 2512.02812), whose verifier knows nothing but the instructions that the
work was done by.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from greenloop.core.compose import region_text
from greenloop.core.nouns import Attempt, Note, Problem, Role
from greenloop.core.ports import Tools
from greenloop.core.requirements import checklist
from greenloop.core.source import DEFINITIONS, piece
from greenloop.feedback._cases import listed
from greenloop.feedback._critic import worth_asking
from greenloop.feedback._findings import told
from greenloop.feedback._question import ask, code_of, names_of
from greenloop.feedback._values import short

TOKENS = 60
FIELD = 240  # characters kept of an answer that cannot be read
_NUMBER = re.compile(r"(?<![\w.])(\d{1,2})(?![\w%])")
_NONE = re.compile(r"\b(?:none|all (?:are|is|of them))\b", re.IGNORECASE)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """The failing cases and the unmet demands; fields `requirements` and `unmet`, or `unparsable`.

    Nobody is asked where the docstring demands nothing, or the code never ran.
    """
    failures = told(problem, attempts, listed)
    items = demands(problem)
    if not items or not worth_asking(attempts):
        return Note(text=failures, fields={"requirements": items} if items else {})
    reply = await ask(
        tools,
        Role.CRITIC,
        "requirements",
        tokens=TOKENS,
        names=names_of(problem),
        code=code_of(problem, attempts[-1]),
        failures=failures,
        checklist="\n".join(f"{number}. {item}" for number, item in enumerate(items, 1)),
    )
    unmet = parsed(reply.text, items)
    if unmet is None:
        fields = {"requirements": items, "unparsable": short(reply.text, FIELD)}
        return Note(text=failures, fields=fields, usage=reply.usage)
    rows = ["", "The docstring demands, and the code does not do:", *(f"- {item}" for item in unmet)] if unmet else []
    return Note(text="\n".join([failures, *rows]), fields={"requirements": items, "unmet": unmet}, usage=reply.usage)


def demands(problem: Problem) -> tuple[str, ...]:
    """The checklist of the function that the run is about."""
    found = piece(region_text(problem, problem.regions[0]))
    body = [] if isinstance(found, SyntaxError) else found.body
    node = next((each for each in body if isinstance(each, DEFINITIONS)), None)
    return checklist(ast.get_docstring(node, clean=False) or "") if node else ()


def parsed(answer: str, items: Sequence[str]) -> tuple[str, ...] | None:
    """The items that an answer names by number; None where it names none that there is and does not say so either."""
    numbers = [int(each) for each in _NUMBER.findall(answer)]
    named = tuple(items[number - 1] for number in sorted(set(numbers)) if 0 < number <= len(items))
    if named:
        return named
    return () if _NONE.search(answer) and not numbers else None
