"""Writes text from models and tests as Markdown that it cannot leave: no links, no images, no control characters.

It must not know what the text says.
"""

from __future__ import annotations

import re

from greenloop.core.text.redact import clean_for_display

STRUCK = r"~~`([^`]*)`~~"


def code(text: str) -> str:
    """A code span, without markup inside and without bars, which would end a table cell."""
    return "`" + clean_for_display(text).replace("`", "'").replace("|", "¦").replace("\n", " ") + "`"


def code_block(text: str, language: str) -> str:
    """A code block that its content cannot leave."""
    body = clean_for_display(text).rstrip("\n")
    longest = max((len(ticks) for ticks in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def without_markup(text: str) -> str:
    """The same text for a client that shows no Markdown: without the marks of code; struck-out code is in brackets."""
    lines, fence = [], ""
    for line in text.split("\n"):
        ticks = re.match(r"`{3,}", line)
        if ticks and (not fence or line == fence):
            fence = "" if fence else ticks[0]
            continue
        lines.append(line if fence else re.sub(r"(?:\*\*)?`([^`]*)`(?:\*\*)?", r"\1", re.sub(STRUCK, r"[\1]", line)))
    return "\n".join(lines)
