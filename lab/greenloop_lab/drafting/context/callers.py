"""Call sites of the code in the workspace, the nearest first.

After TENET's retrieval of callers (arXiv 2509.24148). Callers that the traced tests passed through come first, then
calls found by name in the text. Callers of callers are not looked for.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from greenloop.core.ports import Tools
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.spec import Region
from greenloop.project import sources
from greenloop.project.syntax import definitions

MOST_SITES = 3
MOST_LINES = 6  # of one calling statement
MOST_FILES = 400  # files that are searched
MOST_CHARACTERS = 500_000  # of a file that is searched


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """One excerpt with a statement for each caller, below its file and function."""
    del tools
    sites = await asyncio.to_thread(lambda: list(_first_calls(problem)))
    if not sites:
        return ()
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(region.qualname for region in problem.regions))
    return (Excerpt(title=f"Where {names} is called:", text="\n\n".join(sites), value=0.3),)


def _first_calls(problem: Problem) -> Iterator[str]:
    """The first call in each function that calls a region, without tests and the regions themselves."""
    shown: set[tuple[str, str]] = set()
    for region in problem.regions:
        for path, line in (*_traced_callers(problem), *_calls_by_name(problem, region)):
            text = _text(problem, path)
            caller = definitions.enclosing_definition(text, line, path)
            key = (path, caller.qualname if caller else "")
            inside = any(each.path == path and each.start <= line <= each.end for each in problem.regions)
            if inside or key in shown or sources.is_trusted(path):
                continue
            shown.add(key)
            place = f"{path}, {caller.qualname}" if caller else path
            yield f"# {place}\n{_statement(text, line)}"
            if len(shown) == MOST_SITES:
                return


def _traced_callers(problem: Problem) -> Iterator[tuple[str, int]]:
    """Callers that a traced case passed through, the nearest to its test first."""
    for approach in sorted(problem.approaches.values(), key=lambda approach: approach.depth):
        if approach.caller is not None:
            yield approach.caller.path, approach.caller.line


def _calls_by_name(problem: Problem, region: Region) -> Iterator[tuple[str, int]]:
    """Calls by name: in the region's file, then in nearby files that mention the module or class of the name."""
    owner, _dot, name = region.qualname.rpartition(".")
    called = owner.rpartition(".")[2] if name == "__init__" else name
    method = owner and name != "__init__"
    prefix = r"[.]" if method else r"(?<![.\w])(?:\w+[.])?"
    call = re.compile(rf"{prefix}{re.escape(called)}[ \t]*\(")
    origins = {PurePosixPath(region.path).stem, PurePosixPath(region.path).parent.name} - {"__init__", ""}
    origins = {owner.rpartition(".")[2]} if method else origins
    for path in _nearby_files(problem, region.path)[:MOST_FILES]:
        text = _text(problem, path)
        if called not in text or len(text) > MOST_CHARACTERS:
            continue
        if path != region.path and not any(re.search(rf"\b{re.escape(word)}\b", text) for word in origins):
            continue
        for number, row in enumerate(definitions.split_lines(text), start=1):
            code = row.partition("#")[0]
            if call.search(code) and not re.match(r"\s*(?:async\s+)?(?:def|class)\b", code):
                yield path, number


def _nearby_files(problem: Problem, path: str) -> list[str]:
    """The workspace's Python files, by the distance of their folders."""
    folders = PurePosixPath(path).parent.parts

    def distance(other: str) -> tuple[bool, int, str]:
        parts = PurePosixPath(other).parent.parts
        shared = next((n for n, (a, b) in enumerate(zip(parts, folders, strict=False)) if a != b), None)
        shared = min(len(parts), len(folders)) if shared is None else shared
        return other != path, len(parts) + len(folders) - 2 * shared, other

    on_disk = sources.python_files(problem.root) if problem.root.is_dir() else []
    paths = dict.fromkeys([path, *problem.files, *on_disk])
    return sorted(paths, key=distance)


def _text(problem: Problem, path: str) -> str:
    if path in problem.files:
        return problem.files[path]
    return sources.read_text(problem.root, path, problem.buffers) or ""


def _statement(text: str, line: int) -> str:
    """The call's line and those up to its closing bracket, without their common indentation."""
    rows: list[str] = []
    for row in definitions.split_lines(text)[line - 1 : line - 1 + MOST_LINES]:
        rows.append(row.rstrip())
        statement = "\n".join(rows)
        if sum(map(statement.count, "([{")) <= sum(map(statement.count, ")]}")):
            break
    margin = len(rows[0]) - len(rows[0].lstrip()) if rows else 0
    return "\n".join(row[margin:] if not row[:margin].strip() else row.lstrip() for row in rows)
