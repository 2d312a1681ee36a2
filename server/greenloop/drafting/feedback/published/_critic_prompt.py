"""Asks a model about an attempt: fills in the template next to the part, with every value bounded."""

from __future__ import annotations

import re
from dataclasses import replace

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ChatRequest, Message, Reply, Role
from greenloop.core.records.problem import Problem
from greenloop.core.text.tokens import estimate_tokens
from greenloop.core.text.truncate import truncate
from greenloop.drafting.prompt import answer_of
from greenloop.project import templates

ROOM = 800  # maximum tokens of one value
LONGEST = 20_000  # maximum characters of an answer that are read
LINE = 200  # maximum characters of one line of an answer

_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(\S.*)$", re.MULTILINE)


async def ask(tools: Tools, role: Role, name: str, *, tokens: int, **values: str) -> Reply:
    """The reply to a filled-in template. Raises `BudgetExceededError` and the errors of the model."""
    bounded = {key: truncate(value, ROOM, estimate_tokens) for key, value in values.items()}
    text = templates.part_template(f"feedback/{name}").substitute(bounded).strip()
    reply = await tools.ask(ChatRequest(messages=(Message(role="user", content=text),), role=role, max_tokens=tokens))
    return replace(reply, text=reply.text[:LONGEST])


def names_of(problem: Problem) -> str:
    return ", ".join(dict.fromkeys(region.qualname for region in problem.regions))


def code_of(problem: Problem, attempt: Attempt) -> str:
    """The attempt's code in a fence, or its unreadable answer, shortened."""
    return truncate(answer_of(problem, attempt), ROOM, estimate_tokens)


def list_items(text: str, most: int) -> tuple[str, ...]:
    """The first items of a list in an answer, one line each, without repeats."""
    items = (" ".join(item.replace("`" * 3, "").split())[:LINE] for item in _BULLET.findall(text))
    return tuple(dict.fromkeys(item for item in items if item))[:most]


def named_field(text: str, name: str) -> str:
    """The text after `name:` in an answer, in lower case; "" where there is none."""
    match = re.search(rf"^\W*{name}\W*?[:=]\s*(.{{1,{LINE}}})$", text, re.IGNORECASE | re.MULTILINE)
    return match[1].strip(" *`\"'.").lower() if match else ""


def parse_number(text: str, low: float, high: float) -> float | None:
    """The first number of a text, clamped to the bounds; None where there is none. Reads `4/5` and `80%` as shares."""
    match = re.search(r"(\d+(?:\.\d+)?)\s*(%|/\s*(\d+))?", text)
    if not match:
        return None
    value = float(match[1])
    if match[2]:
        whole = 100.0 if match[2] == "%" else float(match[3])
        value = low + (high - low) * value / whole if whole else low
    return min(max(value, low), high)
