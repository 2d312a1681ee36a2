"""Asks a critic about an attempt, with every value bounded, and reads lists, fields and numbers in its answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import ChatRequest, Message, Reply, Role
from greenloop.core.records.problem import Problem
from greenloop.core.text.tokens import estimate_tokens, truncate
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback._value_diff import shorten
from greenloop.drafting.feedback.cases import list_cases
from greenloop.drafting.feedback.raw import render_output
from greenloop.drafting.shown_attempts import answer_of
from greenloop.project import templates

ROOM = 800  # maximum tokens of one value of a question
LONGEST = 20_000  # maximum characters of an answer that are read
LINE = 200  # maximum characters of one line of an answer
FIELD = 240  # maximum characters of a named field, and of an answer that cannot be read
WORDS = 1200  # maximum characters of a paragraph

_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(\S.*)$", re.MULTILINE)


async def ask(
    problem: Problem,
    attempt: Attempt,
    tools: Tools,
    name: str,
    *,
    tokens: int,
    role: Role = Role.CRITIC,
    temperature: float = 0.0,
    **values: str,
) -> Reply:
    """The reply to the template `name`, which may use `$names`, `$code` (the attempt's) and the given values.

    Raises `BudgetExceededError` and the errors of the model.
    """
    names = ", ".join(dict.fromkeys(region.qualname for region in problem.regions))
    values = {"names": names, "code": code_of(problem, attempt), **values}
    bounded = {key: truncate(value, ROOM, estimate_tokens) for key, value in values.items()}
    text = templates.part_template(f"feedback/{name}").substitute(bounded).strip()
    message = Message(role="user", content=text)
    request = ChatRequest(messages=(message,), role=role, max_tokens=tokens, temperature=temperature)
    reply = await tools.ask(request)
    return replace(reply, text=reply.text[:LONGEST])


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


def code_of(problem: Problem, attempt: Attempt) -> str:
    """The attempt's code in a fence, or its unreadable answer, shortened."""
    return truncate(answer_of(problem, attempt), ROOM, estimate_tokens)


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


def list_items(text: str, most: int) -> tuple[str, ...]:
    """The first items of a list in an answer, one line each, without repeats."""
    items = (" ".join(item.replace("`" * 3, "").split())[:LINE] for item in _BULLET.findall(text))
    return tuple(dict.fromkeys(item for item in items if item))[:most]


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
