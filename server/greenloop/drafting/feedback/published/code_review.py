"""A review with three fields: the type of change, its location, and the solution.

These are the steps into which CodeReviewQA (arXiv 2503.16167) splits the reading of a review comment: change type
recognition, localisation, solution identification. The question includes the user's review comment. An answer without
all three fields is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._case_rows import list_cases
from greenloop.drafting.feedback._raw import render_output
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback._value_diff import shorten
from greenloop.drafting.feedback.published._critic import worth_asking
from greenloop.drafting.feedback.published._critic_prompt import ask, code_of

TOKENS = 120
FIELD = 240  # characters of one field
FIELDS = ("change_type", "location", "solution")
TYPES = ("add", "delete", "modify")

_ROW = re.compile(r"^[\W_]*(change[_ ]type|location|solution)[\W_]*?[:=]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_TYPE = re.compile(
    r"\b(?:(add)(?:ition|s|ed|ing)?|(delet|remov)(?:e|es|ed|ion|al|ing)?|(modif|chang)\w*)\b", re.IGNORECASE
)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """The failing cases and the review; the note's fields hold each of `FIELDS`.

    If the review cannot be read: the runner's own output, and the critic's answer in the field `unparsable`.
    """
    newest = attempts[-1]
    if not worth_asking(attempts):
        return FeedbackNote(text=describe_newest(problem, attempts, render_output))
    failures = list_cases(problem, newest)
    reply = await ask(
        tools,
        Role.CRITIC,
        "code_review",
        tokens=TOKENS,
        code=code_of(problem, newest),
        failures=failures,
        comment=problem.instruction,
    )
    review = parse_review(reply.text)
    if review is None:
        return FeedbackNote(
            text=render_output(problem, newest), fields={"unparsable": shorten(reply.text, FIELD)}, usage=reply.usage
        )
    rows = [f"{name.replace('_', ' ').capitalize()}: {review[name]}" for name in FIELDS]
    explanation = f"{review['change_type']} at {review['location']}: {review['solution']}"
    return FeedbackNote(
        text="\n".join([failures, "", *rows]), fields={"explanation": explanation, **review}, usage=reply.usage
    )


def parse_review(answer: str) -> Mapping[str, str] | None:
    """The three fields of a review, or None when one is missing or the change type is not clear."""
    values = {
        match[1].lower().replace(" ", "_"): shorten(match[2].strip(" *_\"',"), FIELD)
        for match in _ROW.finditer(answer[:20_000])
    }
    types = {TYPES[(match.lastindex or 1) - 1] for match in _TYPE.finditer(values.get("change_type", ""))}
    if len(types) != 1 or not all(values.get(name) for name in FIELDS):
        return None
    return {name: values[name] for name in FIELDS} | {"change_type": types.pop()}
