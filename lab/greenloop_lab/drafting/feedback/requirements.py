"""Checks the docstring's demands: a critic names the unmet ones. It never decides about acceptance.

After Prompt-Free Collaborative Agents (arXiv 2512.02812), whose verifier knows nothing but the instructions for the
work.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from greenloop.core.compose import region_text
from greenloop.core.ports import Tools
from greenloop.core.python.ast_source import first_definition
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import ask
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback._value_diff import shorten
from greenloop.drafting.feedback.cases import list_cases
from greenloop_lab.drafting.feedback._critic import FIELD, worth_asking
from greenloop_lab.drafting.feedback._demands import list_demands

TOKENS = 60
_NUMBER = re.compile(r"(?<![\w.])(\d{1,2})(?![\w%])")
_NONE = re.compile(r"\b(?:none|all (?:are|is|of them))\b", re.IGNORECASE)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """The failing cases and the unmet demands; fields `requirements` and `unmet`, or `unparsable`.

    The critic is not asked where the docstring demands nothing, or the code never ran.
    """
    failures = describe_newest(problem, attempts, list_cases)
    items = docstring_demands(problem)
    if not items or not worth_asking(attempts):
        return FeedbackNote(text=failures, fields={"requirements": items} if items else {})
    checklist = "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))
    reply = await ask(
        problem, attempts[-1], tools, "requirements", tokens=TOKENS, failures=failures, checklist=checklist
    )
    unmet = parse_unmet(reply.text, items)
    if unmet is None:
        fields = {"requirements": items, "unparsable": shorten(reply.text, FIELD)}
        return FeedbackNote(text=failures, fields=fields, usage=reply.usage)
    rows = ["", "The docstring demands, and the code does not do:", *(f"- {item}" for item in unmet)] if unmet else []
    return FeedbackNote(
        text="\n".join([failures, *rows]), fields={"requirements": items, "unmet": unmet}, usage=reply.usage
    )


def docstring_demands(problem: Problem) -> tuple[str, ...]:
    """The demands in the docstring of the run's first region."""
    node = first_definition(region_text(problem, problem.regions[0]))
    return list_demands(ast.get_docstring(node, clean=False) or "") if node else ()


def parse_unmet(answer: str, items: Sequence[str]) -> tuple[str, ...] | None:
    """The items that an answer names by number; empty for an answer like "none", None for an unreadable one."""
    numbers = [int(each) for each in _NUMBER.findall(answer)]
    named = tuple(items[number - 1] for number in sorted(set(numbers)) if 0 < number <= len(items))
    if named:
        return named
    return () if _NONE.search(answer) and not numbers else None
