"""Searches the files of the project for a text."""

from __future__ import annotations

from fnmatch import fnmatch

from greenloop.core.records.model import ToolSpec
from greenloop.plugins.conversations.looks._matches import describe_matches
from greenloop.plugins.conversations.looks._project import Arguments, LookError, ProjectView, text_argument

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


async def look(arguments: Arguments, project: ProjectView) -> str:
    """Returns the lines with the text, each with its place. Raises `LookError`."""
    wanted, files = text_argument(arguments, "text"), text_argument(arguments, "files", needed=False)
    if "\n" in wanted:
        raise LookError("`text` must be a part of one line.")
    paths = [path for path in await project.files() if not files or fnmatch(path, files) or fnmatch(path, f"*/{files}")]
    is_pattern = len(wanted) > 2 and wanted.startswith("/") and wanted.endswith("/")
    return await describe_matches(project, paths, wanted, wanted[1:-1] if is_pattern else "")
