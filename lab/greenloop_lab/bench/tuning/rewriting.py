"""Asks a model to rewrite a template, and reads its answer.

A rewritten template keeps every variable of the one that it replaces, or is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.core.records.model import ChatRequest, Message, Role
from greenloop.project import templates
from greenloop_lab.bench.results import TaskRunResult

_ANSWER = re.compile(r"<template>\n?(.*?)\n?</template>", re.DOTALL)
TEMPERATURE = 0.8  # at a lower one, a model rewrites the same text in the same way
MOST_FAILURES, MOST_CHARACTERS, MOST_TRIED = 3, 600, 4
# The words of the system's message are not a part that users tune.
SYSTEM = "You improve the prompts of a program, judged by how many tasks it solves with them."


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A text that was scored: how many tasks it solves; or, not scored, why it was refused."""

    text: str
    solved: int | None = None
    fault: str = ""


def rewrite_request(
    name: str, best: Tried, count: int, tried: Sequence[Tried], failures: Sequence[TaskRunResult], seed: int
) -> ChatRequest:
    """The question for a better text than the best one, with what others solved and what went wrong."""
    variables = sorted(set(templates.part_template(name).get_identifiers()))
    text = templates.part_template("tuning/rewrite").substitute(
        name=name,
        template=best.text.strip("\n"),
        solved=best.solved,
        count=count,
        tried="\n".join(_tried_text(each, count) for each in tried[-MOST_TRIED:]) or "none",
        failures="\n\n".join(map(_failure_text, failures[:MOST_FAILURES])) or "none",
        variables=", ".join(f"${each}" for each in variables) or "none",
    )
    messages = (Message(role="system", content=SYSTEM), Message(role="user", content=text))
    return ChatRequest(messages=messages, role=Role.PLANNER, temperature=TEMPERATURE, seed=seed)


def _tried_text(tried: Tried, count: int) -> str:
    result = f"not usable: {tried.fault}" if tried.fault else f"{tried.solved} of {count} solved"
    return f"- {result}:\n{tried.text.strip()[:MOST_CHARACTERS]}"


def _failure_text(failure: TaskRunResult) -> str:
    row = next((row for row in reversed(failure.attempts) if row["number"]), None)
    if row is None:
        return f"- {failure.run['task']}: no attempt"
    error = row["error_class"] or "hidden tests failed"
    return f"- {failure.run['task']}: {error}\n{row.get('answer', '')[:MOST_CHARACTERS]}"


def read_rewritten(name: str, answer: str) -> Tried:
    """The text of an answer, with its fault where it cannot replace the template."""
    match = _ANSWER.search(answer)
    if match is None:
        return Tried(text="", fault="it has no text between <template> and </template>")
    text = match[1].strip("\n") + "\n"
    return Tried(text=text, fault=templates.find_fault(name, text))


def same_text(one: str, other: str) -> bool:
    """Do two templates say the same, but for spaces and line ends?"""
    return one.split() == other.split()
