"""Reads a file of the project: some lines of it, or a definition."""

from __future__ import annotations

import asyncio
import re

from greenloop.core.records.model import ToolSpec
from greenloop.core.text.diff import with_plain_ends
from greenloop.plugins.conversations.looks._project import Arguments, LookError, ProjectView, text_argument
from greenloop.project.syntax import definitions

MOST_LINES = 600
LONGEST_LINE = 400
MOST_ENTRIES = 100  # of a folder

SPEC = ToolSpec(
    name="read",
    description="Read a file of the workspace: some lines, or the definition of a symbol. A folder is listed.",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "relative to the workspace"},
            "lines": {"type": "string", "description": "such as 10-80; empty: the beginning"},
            "symbol": {"type": "string", "description": "such as Basket.add; empty: no symbol"},
        },
        "required": ["path"],
    },
)


async def look(arguments: Arguments, project: ProjectView) -> str:
    """Returns the lines, below a line that says which. Raises `LookError`."""
    path = project.resolve(text_argument(arguments, "path"))
    if (project.root / path).is_dir() and path not in project.changed:
        return await asyncio.to_thread(_listing, path, project)
    text = with_plain_ends(project.text(path))
    rows = text.split("\n")[: None if not text.endswith("\n") else -1]
    if symbol := text_argument(arguments, "symbol", needed=False):
        found = definitions.find_by_qualname(definitions.find_definitions(text), symbol)
        if found is None:
            raise LookError(f"`{path}` defines no `{symbol}`.")
        first, last = found.start, found.end
    else:
        first, last = _range(text_argument(arguments, "lines", needed=False), len(rows))
    last = min(last, len(rows), first + MOST_LINES - 1)
    shown = "\n".join(row if len(row) <= LONGEST_LINE else f"{row[:LONGEST_LINE]}…" for row in rows[first - 1 : last])
    return f"{path}, lines {first}-{last} of {len(rows)}:\n{shown}"


def _range(words: str, count: int) -> tuple[int, int]:
    numbers = [int(number) for number in re.findall(r"\d{1,9}", words)]
    if not numbers:
        return 1, MOST_LINES
    first = max(1, numbers[0])
    if first > max(count, 1):
        raise LookError(f"The file has {count} lines.")
    return first, max(first, numbers[1]) if len(numbers) > 1 else first + MOST_LINES - 1


def _listing(folder: str, project: ProjectView) -> str:
    names = project.entries(folder)
    more = f"\n… {len(names) - MOST_ENTRIES} more" if len(names) > MOST_ENTRIES else ""
    return f"{folder or 'the workspace'} has:\n" + "\n".join(names[:MOST_ENTRIES] or ["nothing"]) + more
