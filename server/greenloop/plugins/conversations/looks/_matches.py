"""Describes the lines of the project's files that match a text, a word, or a regular expression.

It must not know which tool asks.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterable, Iterator

from greenloop.core.text.diff import with_plain_ends
from greenloop.plugins.conversations.looks import _line_search
from greenloop.plugins.conversations.looks._line_search import find_lines
from greenloop.plugins.conversations.looks._project import LookError, ProjectView

LARGEST = 1 << 20  # characters of a file that is searched
MOST_CHARACTERS = 64 << 20  # of all files that are searched
SECONDS = 5.0  # for a regular expression

Texts = Iterable[tuple[str, str]]


async def describe_matches(project: ProjectView, paths: Iterable[str], wanted: str, expression: str = "") -> str:
    """Returns the lines with the wanted text, or those that a regular expression matches. Raises `LookError`."""
    texts = _texts(project, paths)
    if expression:
        shown, count = await _find_by_expression(await asyncio.to_thread(list, texts), expression)
    else:
        shown, count = await asyncio.to_thread(find_lines, texts, re.compile(re.escape(wanted)))
    return _describe(shown, count, wanted)


async def describe_uses(project: ProjectView, paths: Iterable[str], name: str) -> str:
    """Returns the lines that have the name as a word."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return _describe(*await asyncio.to_thread(find_lines, _texts(project, paths), pattern), name)


def _texts(project: ProjectView, paths: Iterable[str], room: int = MOST_CHARACTERS) -> Iterator[tuple[str, str]]:
    """Each file that can be searched, source files first, as long as there is room."""
    for path in sorted(paths, key=lambda path: (not path.endswith(".py"), path)):
        try:
            text = project.text(path, keep=False)
        except (LookError, OSError):
            continue
        if len(text) > LARGEST:
            continue
        room -= len(text)
        if room < 0:
            return
        yield path, with_plain_ends(text)


async def _find_by_expression(texts: Texts, expression: str, seconds: float = SECONDS) -> tuple[list[str], int]:
    """As `find_lines`, in a process that ends with its time."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", _line_search.__file__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(seconds):
            output, _errors = await process.communicate(json.dumps([expression, texts]).encode())
    except TimeoutError:
        raise LookError(f"/{expression}/ takes too long: search for a simpler one, or in fewer files.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())
    found = json.loads(output) if output else "it ended without a result"
    if isinstance(found, str):
        raise LookError(f"/{expression}/ cannot be searched for: {found}.")
    shown, count = found
    return shown, count


def _describe(shown: list[str], count: int, wanted: str) -> str:
    if not shown:
        return f"`{wanted}` is in no file."
    more = f"\n… {count - len(shown)} more lines" if count > len(shown) else ""
    return "\n".join(shown) + more
