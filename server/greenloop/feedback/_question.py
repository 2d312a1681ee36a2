"""Puts a question about an attempt to a model: a text file beside the part, filled in, every value bounded."""

from __future__ import annotations

import re
from dataclasses import replace

from greenloop import templates
from greenloop.core.nouns import Attempt, Completion, Message, Problem, Reply, Role
from greenloop.core.ports import Tools
from greenloop.core.prompt import answer_of, cut
from greenloop.core.tokens import estimate

ROOM = 800  # tokens of one value
LONGEST = 20_000  # characters of an answer that are read
LINE = 200  # characters of one line of an answer

_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(\S.*)$", re.MULTILINE)


async def ask(tools: Tools, role: Role, name: str, *, tokens: int, **values: str) -> Reply:
    """The answer to the template `name`, at most `tokens` long. `Spent` and the model's own errors pass."""
    bounded = {key: cut(value, ROOM, estimate) for key, value in values.items()}
    text = templates.part(f"feedback/{name}").substitute(bounded).strip()
    reply = await tools.ask(Completion(messages=(Message(role="user", content=text),), role=role, max_tokens=tokens))
    return replace(reply, text=reply.text[:LONGEST])


def names_of(problem: Problem) -> str:
    return ", ".join(dict.fromkeys(region.qualname for region in problem.regions))


def code_of(problem: Problem, attempt: Attempt) -> str:
    """The attempt's code in a fence, or what was answered in its place."""
    return cut(answer_of(problem, attempt), ROOM, estimate)


def bullets(text: str, most: int) -> tuple[str, ...]:
    """The first items of a list in an answer, one line each, equal ones once."""
    found = (" ".join(item.replace("`" * 3, "").split())[:LINE] for item in _BULLET.findall(text))
    return tuple(dict.fromkeys(item for item in found if item))[:most]


def named(text: str, name: str) -> str:
    """What stands behind `name:` in an answer, in lower case; "" where it does not."""
    found = re.search(rf"^\W*{name}\W*?[:=]\s*(.{{1,{LINE}}})$", text, re.IGNORECASE | re.MULTILINE)
    return found[1].strip(" *`\"'.").lower() if found else ""


def number(text: str, low: float, high: float) -> float | None:
    """The first number of a text, kept within its bounds; None where there is none. Knows `4/5` and `80%`."""
    found = re.search(r"(\d+(?:\.\d+)?)\s*(%|/\s*(\d+))?", text)
    if not found:
        return None
    value = float(found[1])
    if found[2]:
        whole = 100.0 if found[2] == "%" else float(found[3])
        value = low + (high - low) * value / whole if whole else low
    return min(max(value, low), high)
