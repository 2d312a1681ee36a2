"""Builds few-shot prompts from one text file with the turns of a chat, separated by `---` lines.

A small model follows a format that it seems to have used before far better than one that is only described.
"""

from __future__ import annotations

from itertools import cycle
from string import Template

from greenloop.core.records.model import Message
from greenloop.project import templates


def few_shot_messages(part: str, /, **values: str) -> tuple[Message, ...]:
    """The messages of a part's template, alternating between user and assistant, the user last."""
    text = templates.part_template(f"specs/{part}").template
    roles = cycle(("user", "assistant"))
    turns = (Template(turn).substitute(values).strip() for turn in text.split("\n---\n"))
    return tuple(Message(role=next(roles), content=turn) for turn in turns)
