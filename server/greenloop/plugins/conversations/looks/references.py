"""Finds where the project uses a name."""

from __future__ import annotations

from greenloop.core.records.model import ToolSpec
from greenloop.plugins.conversations.looks._matches import describe_uses
from greenloop.plugins.conversations.looks._project import Arguments, LookError, ProjectView, text_argument

SPEC = ToolSpec(
    name="references",
    description="Find where a function, class or attribute is defined and used in the Python files of the workspace.",
    parameters={
        "type": "object",
        "properties": {"symbol": {"type": "string", "description": "such as add or Basket.add"}},
        "required": ["symbol"],
    },
)


async def look(arguments: Arguments, project: ProjectView) -> str:
    """Returns the lines with the name as a word, each with its place. Raises `LookError`."""
    symbol = text_argument(arguments, "symbol")
    name = symbol.strip().removesuffix("()").rpartition(".")[2]
    if not name.isidentifier():
        raise LookError(f"`{symbol}` is not a name.")
    return await describe_uses(project, await project.files(".py"), name)
