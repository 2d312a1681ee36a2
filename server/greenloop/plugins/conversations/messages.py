"""Makes the messages of a conversation from its report, the attempts so far and the looks of the turn in progress.

The same attempts always give the same messages, so that each request begins with the one before, which providers keep
in their caches. It must not know who sends them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from string import Template

from greenloop.core.compose import before_after
from greenloop.core.election import CHEAP, is_valid, rank
from greenloop.core.records.attempt import Attempt, Look, Move
from greenloop.core.records.model import Message, ToolSpec
from greenloop.core.records.problem import Problem
from greenloop.core.text.diff import diff_files
from greenloop.core.text.written_calls import MARK, as_plain
from greenloop.drafting.prompt import fenced
from greenloop.plugins.conversations.tracebacks import summarize_case

NOTHING_NEW = "It was not accepted. Answer with other edits."
MOST = 3  # changes that are shown, the best ones
MOST_CHARACTERS = 4_000  # of one
MOST_CASES = 3  # failing tests that are named of each


def build_messages(
    system: str, report: str, attempts: Sequence[Attempt], looks: Sequence[Look] = (), *, plain: bool = False
) -> tuple[Message, ...]:
    """Returns the conversation up to what is to be answered now; `plain`: calls of tools are lines of text."""
    messages = [Message(role="system", content=system), Message(role="user", content=report)]
    for attempt in turns(attempts):
        messages += _looks(attempt.looks)
        messages.append(Message(role="assistant", content=attempt.answer or "(no answer)"))
        messages.append(Message(role="user", content=feedback_on(attempt)))
    messages += _looks(looks)
    return tuple(map(as_plain, messages)) if plain else tuple(messages)


def turns(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The attempts that are turns of the conversation."""
    return [attempt for attempt in attempts if attempt.draft and attempt.draft.move is Move.TURN]


def feedback_on(attempt: Attempt) -> str:
    """Returns the feedback on an attempt for the model."""
    return "\n\n".join(note.text for note in attempt.notes if note.text) or attempt.verdict.reason or NOTHING_NEW


def _looks(looks: Sequence[Look]) -> Iterator[Message]:
    """Each reply of the model with its calls, and their results after it."""
    for _reply, group in groupby(looks, key=lambda look: look.reply):
        made = list(group)
        yield Message(
            role="assistant", content=made[0].said, calls=tuple(look.call for look in made), extra=made[0].extra
        )
        for look in made:
            yield Message(role="tool", content=look.result, call_id=look.call.id)


def describe_tools(template: str, tools: Sequence[ToolSpec]) -> str:
    """Returns how a model without function calling calls these tools."""
    rows = []
    for tool in tools:
        example = {name: _example(about) for name, about in tool.parameters["properties"].items()}
        rows.append(f"{MARK} {tool.name} {json.dumps(example, ensure_ascii=False)}\n    {tool.description}")
    return Template(template).substitute(tools="\n".join(rows)).strip()


def _example(about: dict[str, object]) -> object:
    return ["…"] if about.get("type") == "array" else str(about.get("description", "…"))


def describe_tried(problem: Problem, attempts: Sequence[Attempt]) -> str:
    """Returns a section of the report about the attempts before the first turn; "" where no model was asked."""
    before = takewhile(lambda attempt: attempt.draft is None or attempt.draft.move is not Move.TURN, attempts)
    asked = [each for each in before if each.draft and each.draft.move not in CHEAP and is_valid(each)]
    best = sorted(asked, key=lambda each: (rank(each), each.number))[-MOST:]
    parts = [part for attempt in sorted(best, key=lambda each: each.number) if (part := _describe(problem, attempt))]
    return "\n\n".join(["Another model tried this before you; none of it is kept:", *parts]) if parts else ""


def _describe(problem: Problem, attempt: Attempt) -> str:
    assert attempt.candidate is not None
    diff = diff_files(*before_after(problem, attempt.candidate))
    if not diff or len(diff) > MOST_CHARACTERS:
        return ""
    verdict = attempt.verdict
    failing = [case for case in verdict.cases if not case.passed] or verdict.collateral
    rows = [summarize_case(case) for case in failing[:MOST_CASES]]
    shown = fenced("\n".join(rows), "text") if rows else verdict.reason
    return f"{fenced(diff, 'diff')}\n{verdict.passed} of {verdict.total} tests pass with it.\n{shown}".strip()
