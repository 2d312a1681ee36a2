"""How the code is used nearby: a few call sites in the workspace, the nearest first.

After TENET's retrieval of callers (arXiv 2509.24148). Callers that the tests were seen to pass through come first, then
those that the text shows. Callers of callers are not looked for.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from greenloop import sources, syntax
from greenloop.core.nouns import Excerpt, Problem, Region
from greenloop.core.ports import Tools

MOST_SITES = 3
MOST_LINES = 6  # of one statement that calls
MOST_FILES = 400  # that are looked into
MOST_CHARACTERS = 500_000  # of a file that is looked into


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """One excerpt with a statement for each caller, under the file and function that it stands in."""
    del tools
    sites = await asyncio.to_thread(lambda: list(_few(problem)))
    if not sites:
        return ()
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(region.qualname for region in problem.regions))
    return (Excerpt(title=f"Where {names} is called:", text="\n\n".join(sites), value=0.3),)


def _few(problem: Problem) -> Iterator[str]:
    """The first call in each function that calls a region, tests and regions left out."""
    seen: set[tuple[str, str]] = set()
    for region in problem.regions:
        for path, line in (*_seen(problem), *_found(problem, region)):
            text = _text(problem, path)
            around = syntax.enclosing(text, line, path)
            key = (path, around.qualname if around else "")
            inside = any(each.path == path and each.start <= line <= each.end for each in problem.regions)
            if inside or key in seen or sources.is_trusted(path):
                continue
            seen.add(key)
            where = f"{path}, {around.qualname}" if around else path
            yield f"# {where}\n{_statement(text, line)}"
            if len(seen) == MOST_SITES:
                return


def _seen(problem: Problem) -> Iterator[tuple[str, int]]:
    """Callers that a traced case came through, the nearest to its test first."""
    for approach in sorted(problem.approaches.values(), key=lambda approach: approach.depth):
        if approach.caller is not None:
            yield approach.caller.path, approach.caller.line


def _found(problem: Problem, region: Region) -> Iterator[tuple[str, int]]:
    """Calls by name: in the region's own file, then in files near to it that mention where the name comes from."""
    owner, _dot, name = region.qualname.rpartition(".")
    called = owner.rpartition(".")[2] if name == "__init__" else name
    method = owner and name != "__init__"
    before = r"[.]" if method else r"(?<![.\w])(?:\w+[.])?"
    call = re.compile(rf"{before}{re.escape(called)}[ \t]*\(")
    origin = {PurePosixPath(region.path).stem, PurePosixPath(region.path).parent.name} - {"__init__", ""}
    origin = {owner.rpartition(".")[2]} if method else origin
    for path in _near(problem, region.path)[:MOST_FILES]:
        text = _text(problem, path)
        if called not in text or len(text) > MOST_CHARACTERS:
            continue
        if path != region.path and not any(re.search(rf"\b{re.escape(word)}\b", text) for word in origin):
            continue
        for number, row in enumerate(syntax.lines(text), start=1):
            code = row.partition("#")[0]
            if call.search(code) and not re.match(r"\s*(?:async\s+)?(?:def|class)\b", code):
                yield path, number


def _near(problem: Problem, path: str) -> list[str]:
    """The workspace's files, those with the longest way in common first."""
    folders = PurePosixPath(path).parent.parts

    def distance(other: str) -> tuple[bool, int, str]:
        parts = PurePosixPath(other).parent.parts
        shared = next((n for n, (a, b) in enumerate(zip(parts, folders, strict=False)) if a != b), None)
        shared = min(len(parts), len(folders)) if shared is None else shared
        return other != path, len(parts) + len(folders) - 2 * shared, other

    known = sources.python_files(problem.root) if problem.root.is_dir() else []
    every = dict.fromkeys([path, *problem.files, *known])
    return sorted(every, key=distance)


def _text(problem: Problem, path: str) -> str:
    if path in problem.files:
        return problem.files[path]
    return sources.text(problem.root, path, problem.buffers) or ""


def _statement(text: str, line: int) -> str:
    """The call's line, and those that its brackets take in, at the margin."""
    rows: list[str] = []
    for row in syntax.lines(text)[line - 1 : line - 1 + MOST_LINES]:
        rows.append(row.rstrip())
        taken = "\n".join(rows)
        if sum(map(taken.count, "([{")) <= sum(map(taken.count, ")]}")):
            break
    margin = len(rows[0]) - len(rows[0].lstrip()) if rows else 0
    return "\n".join(row[margin:] if not row[:margin].strip() else row.lstrip() for row in rows)
