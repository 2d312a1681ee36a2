"""One code cell of a notebook as Python: magics and shell lines as comments, row for row, and its statements by kind.

It must not know of the other cells.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from greenloop.core.diff import lines
from greenloop.core.names import bound_by, free_names
from greenloop.core.source import DEFINITIONS

# Cell magics whose cell is Python all the same; what any other magic's cell holds is not looked at.
PYTHON = {"time", "timeit", "capture", "prun", "memit", "mprun", "refine", "ipytest", "run_pytest"}
WAIT = "await_"  # what stands for `await` outside of functions, which only Jupyter understands there

_RUNS = re.compile(r"(\s*)%(?:time|memit|prun)[ \t]+(?!-)(\S.*)")
_MAGIC = re.compile(r"\s*(?:%{1,2}\w|!|\?|[%\w.*]+\?{1,2}\s*$|[\w.,* \t]+=[ \t]*[%!])")
_TOKEN = re.compile(r"\"\"\"|'''|[\"'#(){}\[\]]")


class Kind(StrEnum):
    """`CHECK` asserts something, `TEST` defines a test or fixture of pytest's, `CALL` is a bare expression."""

    IMPORT = "import"
    DEFINE = "define"
    TEST = "test"
    CHECK = "check"
    CALL = "call"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True)
class Part:
    """Statements that share rows `start`..`end` (0-based, half open), with the names they bind and take from outside.

    `name` is that of the function or class; `star` says that it imports everything from somewhere.
    """

    start: int
    end: int
    kind: Kind
    binds: frozenset[str]
    needs: frozenset[str]
    name: str = ""
    star: bool = False
    future: bool = False


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A cell's rows as Python, without line ends; as many as the cell has.

    `inside` are the rows that begin within a text; `broken` is the row (0-based) and Python's word where it does not
    parse.
    """

    rows: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    inside: frozenset[int] = frozenset()
    broken: tuple[int, str] | None = None

    @property
    def checks(self) -> bool:
        return any(part.kind is Kind.CHECK for part in self.parts)

    @property
    def tests(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.kind is Kind.TEST)


def rows_of(source: str) -> list[str]:
    """The rows of a cell without their ends; an empty cell has one."""
    return [row.rstrip("\r\n") for row in lines(source)] or [""]


@lru_cache(1024)
def read(source: str) -> Reading:
    rows, inside = _cleaned(rows_of(source))
    try:
        tree = _tree(rows)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        row = (getattr(error, "lineno", None) or 1) - 1
        reason = str(getattr(error, "msg", "") or "it is nested too deeply")
        return Reading(rows=tuple(rows), inside=inside, broken=(min(row, len(rows) - 1), reason))
    if (row := _asynchronous(tree)) is not None:
        reason = "only Jupyter runs this outside of an async function"
        return Reading(rows=tuple(rows), inside=inside, broken=(row, reason))
    rows = _waiting(rows, tree)
    return Reading(rows=tuple(rows), parts=tuple(_parts(tree, rows)), inside=inside)


def _tree(rows: Sequence[str]) -> ast.Module:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    module = compile("\n".join(rows) + "\n", "<cell>", "exec", flags, dont_inherit=True)
    assert isinstance(module, ast.Module)
    return module


# -- magics ---------------------------------------------------------------------------------------------------------


def _cleaned(rows: Sequence[str]) -> tuple[list[str], frozenset[int]]:
    """Rows with magics commented out, and the rows that begin inside a text."""
    first = next((row for row, text in enumerate(rows) if text.strip()), 0)
    cell = re.match(r"%%(\w+)", rows[first])
    if cell and cell[1] not in PYTHON:
        return [f"# {row}".rstrip() for row in rows], frozenset()
    result, inside = [], set()
    quote, depth, going_on, joined = "", 0, False, False
    for number, row in enumerate(rows):
        if quote:
            inside.add(number)
        if going_on or (not quote and not depth and not joined and _MAGIC.match(row)):
            runs = None if going_on else _RUNS.match(row)
            if runs is None:
                going_on = row.endswith("\\")
                result.append(f"# {row.strip()}" if joined else _comment(row))
                joined = going_on
                continue
            row = runs[1] + runs[2]  # noqa: PLW2901 - what the magic runs
        result.append(row)
        quote, depth = _scan(row, quote, depth)
        joined = row.endswith("\\")
    return result, frozenset(inside)


def _comment(row: str) -> str:
    body = row.lstrip()
    indent = row[: len(row) - len(body)]
    return f"{indent}pass  # {body}" if indent and body else f"# {body}".rstrip()


def _scan(row: str, quote: str, depth: int) -> tuple[str, int]:
    """The text that is open and how many brackets are, at the end of a row."""
    at = 0
    while at < len(row):
        if quote:
            found = re.compile(r"\\.|" + re.escape(quote)).search(row, at)
            if found is None:
                break
            at = found.end()
            quote = "" if found[0] == quote else quote
            continue
        found = _TOKEN.search(row, at)
        if found is None or found[0] == "#":
            break
        at = found.end()
        if found[0] in "([{":
            depth += 1
        elif found[0] in ")]}":
            depth = max(depth - 1, 0)
        else:
            quote = found[0]
    # Only a text in three quotes goes on by itself.
    return (quote if len(quote) == 3 or row.endswith("\\") else ""), depth


# -- statements -----------------------------------------------------------------------------------------------------


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """Everything in a statement that is not inside a function or class of it."""
    yield node
    if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _outside(child)


def _asynchronous(tree: ast.Module) -> int | None:
    """The first row with `async for` or `async with` outside of functions, for which nothing else can stand."""
    for node in (inner for statement in tree.body for inner in _outside(statement)):
        if isinstance(node, ast.AsyncFor | ast.AsyncWith):
            return node.lineno - 1
        if isinstance(node, ast.comprehension) and node.is_async:
            return node.target.lineno - 1
    return None


def _waiting(rows: Sequence[str], tree: ast.Module) -> list[str]:
    """`await x` outside of functions as a call; the rows stay what they are."""
    result = list(rows)
    marks: list[tuple[int, int, bytes]] = []
    for node in (inner for statement in tree.body for inner in _outside(statement)):
        if isinstance(node, ast.Await) and node.value.end_lineno and node.value.end_col_offset is not None:
            marks.append((node.lineno - 1, node.col_offset, b""))
            marks.append((node.value.end_lineno - 1, node.value.end_col_offset, b")"))
    for row, column, mark in sorted(marks, reverse=True):
        data = result[row].encode("utf-8", "surrogatepass")
        rest = data[column:] if mark else re.sub(rb"^await\b[ \t]*", WAIT.encode() + b"(", data[column:])
        result[row] = (data[:column] + mark + rest).decode("utf-8", "surrogatepass")
    return result


def _parts(tree: ast.Module, rows: Sequence[str]) -> Iterator[Part]:
    """The statements, those that share a row together."""
    groups: list[list[ast.stmt]] = []
    for node in tree.body:
        if groups and _first(node) < (groups[-1][-1].end_lineno or 0):
            groups[-1].append(node)
        else:
            groups.append([node])
    for group in groups:
        start, end = _first(group[0]), group[-1].end_lineno or group[-1].lineno
        kinds = [_kind(node) for node in group]
        named = next((node.name for node in group if isinstance(node, DEFINITIONS)), "")
        yield Part(
            start=start,
            end=end,
            kind=next((kind for kind in (Kind.CHECK, Kind.TEST) if kind in kinds), kinds[0]),
            binds=frozenset().union(*(bound_by(node) for node in group)) - {"*"},
            needs=frozenset(free_names("\n".join(rows[start:end]))),
            name=named,
            star=any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in group),
            future=any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in group),
        )


def _first(node: ast.stmt) -> int:
    """The 0-based row where a statement begins, its decorators included."""
    above: list[int] = [item.lineno for item in getattr(node, "decorator_list", ())]
    return min([node.lineno, *above]) - 1


def _kind(node: ast.stmt) -> Kind:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return Kind.IMPORT
    if isinstance(node, DEFINITIONS):
        if any("fixture" in ast.unparse(mark) for mark in node.decorator_list):
            return Kind.TEST
        tested = node.name.startswith("Test") if isinstance(node, ast.ClassDef) else node.name.startswith("test")
        return Kind.TEST if tested else Kind.DEFINE
    if any(isinstance(inner, ast.Assert) for inner in _outside(node)):
        return Kind.CHECK
    return Kind.CALL if isinstance(node, ast.Expr) else Kind.OTHER
