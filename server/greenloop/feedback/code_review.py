"""A review in three fields: what kind of change, where, and which.

They are the steps into which CodeReviewQA takes the reading of a review comment apart: change type recognition,
localisation, solution identification (arXiv 2503.16167). A comment of the user's stands in the question. An answer
without the three fields is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from greenloop.core.nouns import Attempt, Note, Problem, Role
from greenloop.core.ports import Tools
from greenloop.feedback._cases import listed
from greenloop.feedback._critic import worth_asking
from greenloop.feedback._findings import told
from greenloop.feedback._question import ask, code_of
from greenloop.feedback._raw import rendered
from greenloop.feedback._values import short

TOKENS = 120
FIELD = 240  # characters of one field
FIELDS = ("change_type", "location", "solution")
TYPES = ("add", "delete", "modify")

_ROW = re.compile(r"^[\W_]*(change[_ ]type|location|solution)[\W_]*?[:=]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_TYPE = re.compile(
    r"\b(?:(add)(?:ition|s|ed|ing)?|(delet|remov)(?:e|es|ed|ion|al|ing)?|(modif|chang)\w*)\b", re.IGNORECASE
)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """The failing cases and the review; the note's fields hold each of `FIELDS`.

    Where it cannot be read the runner's own words, and the field `unparsable` with what the critic said.
    """
    newest = attempts[-1]
    if not worth_asking(attempts):
        return Note(text=told(problem, attempts, rendered))
    failures = listed(problem, newest)
    reply = await ask(
        tools,
        Role.CRITIC,
        "code_review",
        tokens=TOKENS,
        code=code_of(problem, newest),
        failures=failures,
        comment=problem.instruction,
    )
    review = parsed(reply.text)
    if review is None:
        return Note(text=rendered(problem, newest), fields={"unparsable": short(reply.text, FIELD)}, usage=reply.usage)
    rows = [f"{name.replace('_', ' ').capitalize()}: {review[name]}" for name in FIELDS]
    explanation = f"{review['change_type']} at {review['location']}: {review['solution']}"
    return Note(text="\n".join([failures, "", *rows]), fields={"explanation": explanation, **review}, usage=reply.usage)


def parsed(answer: str) -> Mapping[str, str] | None:
    """The three fields, or None when one is missing or the type of the change is none of `TYPES`."""
    found = {
        match[1].lower().replace(" ", "_"): short(match[2].strip(" *_\"',"), FIELD)
        for match in _ROW.finditer(answer[:20_000])
    }
    kinds = {TYPES[(match.lastindex or 1) - 1] for match in _TYPE.finditer(found.get("change_type", ""))}
    if len(kinds) != 1 or not all(found.get(name) for name in FIELDS):
        return None
    return {name: found[name] for name in FIELDS} | {"change_type": kinds.pop()}
