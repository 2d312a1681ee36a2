"""Finds where the project uses a name."""

from __future__ import annotations

import asyncio
import re

from greenloop.core.records.model import ToolSpec
from greenloop.engine.looks._matching_lines import find_lines
from greenloop.engine.looks._project import Arguments, Project, text_argument

SPEC = ToolSpec(
    name="references",
    description="Find where a function, class or attribute is defined and used in the Python files of the workspace.",
    parameters={
        "type": "object",
        "properties": {"symbol": {"type": "string", "description": "such as add or Basket.add"}},
        "required": ["symbol"],
    },
)


async def look(arguments: Arguments, project: Project) -> str:
    """Returns the lines with the name as a word, each with its place. Raises `LookError`."""
    symbol = text_argument(arguments, "symbol")
    name = symbol.rpartition(".")[2].strip("() ")
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return await asyncio.to_thread(find_lines, project, await project.files(".py"), pattern, f"`{name}`")
