"""Fits lines to the width of the terminal, without breaking a path or a command."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap


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
