"""Asks a critic about an attempt, with every value bounded, and reads lists in its answer."""

from __future__ import annotations

import re
from dataclasses import replace

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ChatRequest, Message, Reply, Role
from greenloop.core.records.problem import Problem
from greenloop.core.text.tokens import estimate_tokens, truncate
from greenloop.drafting.prompt import answer_of
from greenloop.project import templates

ROOM = 800  # maximum tokens of one value of a question
LONGEST = 20_000  # maximum characters of an answer that are read
LINE = 200  # maximum characters of one line of an answer

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


def code_of(problem: Problem, attempt: Attempt) -> str:
    """The attempt's code in a fence, or its unreadable answer, shortened."""
    return truncate(answer_of(problem, attempt), ROOM, estimate_tokens)


def list_items(text: str, most: int) -> tuple[str, ...]:
    """The first items of a list in an answer, one line each, without repeats."""
    items = (" ".join(item.replace("`" * 3, "").split())[:LINE] for item in _BULLET.findall(text))
    return tuple(dict.fromkeys(item for item in items if item))[:most]
