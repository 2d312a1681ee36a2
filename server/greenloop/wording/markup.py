"""Writes text from models and tests as Markdown that it cannot leave: no links, no images, no control characters.

It must not know what the text says.
"""

from __future__ import annotations

import re
import textwrap

from greenloop.core.text.redact import clean_for_display

WIDTH = 100  # characters of a line of prose


def code(text: str) -> str:
    """A code span, without markup inside and without bars, which would end a table cell."""
    return "`" + clean_for_display(text).replace("`", "'").replace("|", "¦").replace("\n", " ") + "`"


def code_block(text: str, language: str) -> str:
    """A code block that its content cannot leave."""
    body = clean_for_display(text).rstrip("\n")
    longest = max((len(ticks) for ticks in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def wrap(text: str) -> str:
    return "\n".join(row for line in clean_for_display(text).split("\n") for row in textwrap.wrap(line, WIDTH))
