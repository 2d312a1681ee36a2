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
from greenloop.core.records.problem import Problem
from greenloop_lab.drafting.feedback._critic import describe_by_fields, read_fields

TOKENS = 120
FIELDS = ("change_type", "location", "solution")
TYPES = ("add", "delete", "modify")

_TYPE = re.compile(
    r"\b(?:(add)(?:ition|s|ed|ing)?|(delet|remov)(?:e|es|ed|ion|al|ing)?|(modif|chang)\w*)\b", re.IGNORECASE
)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """The failing cases and the review; the note's fields hold each of `FIELDS`."""
    comment = problem.instruction
    return await describe_by_fields(
        problem, attempts, tools, "code_review", parse_review, _explain, tokens=TOKENS, fields={}, comment=comment
    )


def _explain(review: Mapping[str, str]) -> str:
    return f"{review['change_type']} at {review['location']}: {review['solution']}"


def parse_review(answer: str) -> Mapping[str, str] | None:
    """The three fields of a review, or None when one is missing or the change type is not clear."""
    fields = read_fields(answer, FIELDS)
    matches = _TYPE.finditer(fields["change_type"] if fields else "")
    types = {TYPES[(match.lastindex or 1) - 1] for match in matches}
    return {**fields, "change_type": types.pop()} if fields and len(types) == 1 else None
