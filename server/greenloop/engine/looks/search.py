"""Searches the files of the project for a text."""

from __future__ import annotations

import asyncio
import re
from fnmatch import fnmatch

from greenloop.core.records.model import ToolSpec
from greenloop.engine.looks._matching_lines import find_lines
from greenloop.engine.looks._project import Arguments, LookError, Project, text_argument

SPEC = ToolSpec(
    name="search",
    description="Find a text in all files of the workspace; a regular expression is written /between slashes/.",
    parameters={
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "files": {"type": "string", "description": "pattern of paths, such as src/*.py; empty: all"},
        },
        "required": ["text"],
    },
)


async def look(arguments: Arguments, project: Project) -> str:
    """Returns the lines with the text, each with its place. Raises `LookError`."""
    wanted, files = text_argument(arguments, "text"), text_argument(arguments, "files", needed=False)
    pattern = _pattern(wanted)
    paths = [path for path in await project.files() if not files or fnmatch(path, files) or fnmatch(path, f"*/{files}")]
    return await asyncio.to_thread(find_lines, project, paths, pattern, f"`{wanted}`")


def _pattern(text: str) -> re.Pattern[str]:
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        try:
            return re.compile(text[1:-1])
        except re.error as error:
            raise LookError(f"{text} is not a regular expression: {error}.") from error
    return re.compile(re.escape(text))
