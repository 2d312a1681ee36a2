"""Prompts with a worked example: the turns of a chat stand in one text file, parted by lines of three dashes.

A small model keeps to a form that it seems to have used before far better than to one that it is told.
"""

from __future__ import annotations

from itertools import cycle
from string import Template

from greenloop import templates
from greenloop.core.nouns import Message


def turns(part: str, /, **values: str) -> tuple[Message, ...]:
    """The messages of a part's template, user and assistant by turns, the user last."""
    text = templates.part(f"specs/{part}").template
    roles = cycle(("user", "assistant"))
    return tuple(Message(role=next(roles), content=_filled(turn, values)) for turn in text.split("\n---\n"))


def _filled(turn: str, values: dict[str, str]) -> str:
    return Template(turn).substitute(values).strip()
