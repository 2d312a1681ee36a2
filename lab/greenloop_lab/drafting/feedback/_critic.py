"""Reads fields, paragraphs, names and numbers in the answer of a critic."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Reply, Role
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._critic import LINE, LONGEST, ask
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback._value_diff import shorten
from greenloop.drafting.feedback.cases import list_cases
from greenloop.drafting.feedback.raw import render_output

FIELD = 240  # maximum characters of a named field, and of an answer that cannot be read
WORDS = 1200  # maximum characters of a paragraph


async def describe_by_fields(
    problem: Problem,
    attempts: Sequence[Attempt],
    tools: Tools,
    name: str,
    parse: Callable[[str], Mapping[str, str] | None],
    explain: Callable[[Mapping[str, str]], str],
    *,
    tokens: int,
    fields: Mapping[str, str],
    **values: str,
) -> FeedbackNote:
    """The failing cases and the fields that `parse` reads in the critic's answer; the note has them, and `fields`.

    If the answer cannot be read: the runner's own output, and the answer in the field `unparsable`.
    """
    newest = attempts[-1]
    if not worth_asking(attempts):
        return FeedbackNote(text=describe_newest(problem, attempts, render_output), fields=fields)
    failures = list_cases(problem, newest)
    reply = await ask(
        problem, newest, tools, name, tokens=tokens, role=Role.CRITIC, temperature=0.0, failures=failures, **values
    )
    parsed = parse(reply.text)
    if parsed is None:
        fields = {**fields, "unparsable": shorten(reply.text, FIELD)}
        return FeedbackNote(text=render_output(problem, newest), fields=fields, usage=reply.usage)
    rows = [f"{key.replace('_', ' ').capitalize()}: {value}" for key, value in parsed.items()]
    fields = {**fields, "explanation": explain(parsed), **parsed}
    return FeedbackNote(text="\n".join([failures, "", *rows]), fields=fields, usage=reply.usage)


def worth_asking(attempts: Sequence[Attempt]) -> bool:
    """Did code of the model run? The user's own code and refused answers are described without a critic."""
    newest = attempts[-1]
    return newest.number > 0 and newest.candidate is not None and newest.finding is None


def as_paragraph(reply: Reply) -> str:
    """The critic's answer as one bounded paragraph without fences."""
    rows = [row for row in reply.text[: 8 * WORDS].split("\n") if not row.lstrip().startswith("```")]
    return shorten(" ".join(rows), WORDS)


def read_fields(answer: str, names: Sequence[str]) -> dict[str, str] | None:
    """The rows `name: value` of an answer, by name; None when one is missing. Spaces may stand for underscores."""
    pattern = "|".join(name.replace("_", "[_ ]") for name in names)
    rows = re.findall(rf"^[\W_]*({pattern})[\W_]*?[:=]\s*(.+)$", answer[:LONGEST], re.IGNORECASE | re.MULTILINE)
    values = {key.lower().replace(" ", "_"): shorten(value.strip(" *_\"',"), FIELD) for key, value in rows}
    return {name: values[name] for name in names} if all(map(values.get, names)) else None


def named_field(text: str, name: str) -> str:
    """The text after `name:` in an answer, in lower case; "" where there is none."""
    match = re.search(rf"^\W*{name}\W*?[:=]\s*(.{{1,{LINE}}})$", text, re.IGNORECASE | re.MULTILINE)
    return match[1].strip(" *`\"'.").lower() if match else ""


def parse_number(text: str, most: float) -> float | None:
    """The first number of a text, from 0 to `most`; None where there is none. Reads `4/5` and `80%` as shares."""
    match = re.search(r"(\d+(?:\.\d+)?)\s*(%|/\s*(\d+))?", text)
    if not match:
        return None
    value = float(match[1])
    if match[2]:
        whole = 100.0 if match[2] == "%" else float(match[3])
        value = most * value / whole if whole else 0.0
    return min(value, most)
