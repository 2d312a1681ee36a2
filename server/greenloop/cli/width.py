"""Fits lines to the terminal. It knows no command and no event."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import IO


def fit(line: str, width: int) -> str:
    """The line, shortened at its end where the terminal is narrower."""
    return line if len(line) <= width else f"{line[: width - 1]}…"


def wrap_words(text: str, width: int, *, indent: int = 0) -> list[str]:
    """Lines broken between words alone, so that a path or a command stays whole."""
    space = " " * indent
    return textwrap.wrap(
        text,
        max(width, 2 * indent),
        initial_indent=space,
        subsequent_indent=f"{space}   " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


def terminal_width() -> int:
    """Columns of the terminal; of a pipe, which can be searched, as many as a line needs."""
    is_known = sys.stdout.isatty() or os.environ.get("COLUMNS")
    return shutil.get_terminal_size().columns if is_known else 100_000


def break_lines(text: str, stream: IO[str]) -> str:
    """The text for this stream: on a terminal, lines that are too long are broken between words."""
    if not stream.isatty():
        return text
    lines, width = text.split("\n"), shutil.get_terminal_size().columns
    broken = (wrap_words(line.lstrip(), width, indent=len(line) - len(line.lstrip())) for line in lines)
    return "\n".join(
        line if len(line) <= width else "\n".join(parts) for line, parts in zip(lines, broken, strict=True)
    )
