"""Parses one code cell: comments out magics and shell lines and classifies the statements.

Rows keep their numbers. This module must not know of the other cells.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from greenloop.core.python.ast_source import DEFINITIONS
from greenloop.core.python.names import bound_names, free_names
from greenloop.core.text.diff import split_lines

# Cell magics whose cell contains Python; cells with any other magic are ignored.
PYTHON = {"time", "timeit", "capture", "prun", "memit", "mprun", "refine", "ipytest", "run_pytest"}
AWAIT = "await_"  # function that replaces `await` outside functions, which only Jupyter supports

_RUN_MAGIC = re.compile(r"(\s*)%(?:time|memit|prun)[ \t]+(?!-)(\S.*)")
_MAGIC = re.compile(r"\s*(?:%{1,2}\w|!|\?|[%\w.*]+\?{1,2}\s*$|[\w.,* \t]+=[ \t]*[%!])")
_TOKEN = re.compile(r"\"\"\"|'''|[\"'#(){}\[\]]")


class LineKind(StrEnum):
    """`CHECK` asserts something, `TEST` defines a pytest test or fixture, `CALL` is a bare expression."""

    IMPORT = "import"
    DEFINE = "define"
    TEST = "test"
    CHECK = "check"
    CALL = "call"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True)
class CellPart:
    """A statement, or several that share a row: rows `start` to `end` (0-based, half open).

    `binds` are the names it binds, `needs` those it takes from outside; `name` is that of its function or class;
    `is_star_import`: it contains `from … import *`; `is_future_import`: it imports from `__future__`.
    """

    start: int
    end: int
    kind: LineKind
    binds: frozenset[str]
    needs: frozenset[str]
    name: str = ""
    is_star_import: bool = False
    is_future_import: bool = False


@dataclass(frozen=True, kw_only=True)
class ParsedCell:
    """A cell's rows as Python, without line endings, as many as the cell has.

    `string_rows` are rows that begin inside a string; `syntax_error` is the row (0-based) and Python's message if the
    cell does not parse.
    """

    rows: tuple[str, ...]
    parts: tuple[CellPart, ...] = ()
    string_rows: frozenset[int] = frozenset()
    syntax_error: tuple[int, str] | None = None

    @property
    def checks(self) -> bool:
        return any(part.kind is LineKind.CHECK for part in self.parts)

    @property
    def tests(self) -> tuple[CellPart, ...]:
        return tuple(part for part in self.parts if part.kind is LineKind.TEST)


def rows_of(source: str) -> list[str]:
    """The rows of a cell without their line endings; an empty cell has one."""
    return [row.rstrip("\r\n") for row in split_lines(source)] or [""]


@lru_cache(1024)
def read(source: str) -> ParsedCell:
    """Parses a cell's source; a syntax error is part of the result."""
    rows, string_rows = _clean_rows(rows_of(source))
    try:
        tree = _tree(rows)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        error_row = (getattr(error, "lineno", None) or 1) - 1
        reason = str(getattr(error, "msg", "") or "it is nested too deeply")
        return ParsedCell(
            rows=tuple(rows), string_rows=string_rows, syntax_error=(min(error_row, len(rows) - 1), reason)
        )
    if (error_row := _asynchronous(tree)) is not None:
        reason = "only Jupyter runs this outside of an async function"
        return ParsedCell(rows=tuple(rows), string_rows=string_rows, syntax_error=(error_row, reason))
    rows = _replace_await(rows, tree)
    return ParsedCell(rows=tuple(rows), parts=tuple(_parts(tree, rows)), string_rows=string_rows)


def _tree(rows: Sequence[str]) -> ast.Module:
    compile_flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    module = compile("\n".join(rows) + "\n", "<cell>", "exec", compile_flags, dont_inherit=True)
    assert isinstance(module, ast.Module)
    return module


# -- magics ---------------------------------------------------------------------------------------------------------


def _clean_rows(rows: Sequence[str]) -> tuple[list[str], frozenset[int]]:
    """The rows with magics commented out, and the numbers of those that begin inside a string."""
    first_row = next((row for row, text in enumerate(rows) if text.strip()), 0)
    cell_magic = re.match(r"%%(\w+)", rows[first_row])
    if cell_magic and cell_magic[1] not in PYTHON:
        return [f"# {row}".rstrip() for row in rows], frozenset()
    cleaned, string_rows = [], set()
    quote, depth, continued, is_continuation = "", 0, False, False
    for number, row in enumerate(rows):
        if quote:
            string_rows.add(number)
        if continued or (not quote and not depth and not is_continuation and _MAGIC.match(row)):
            run_magic = None if continued else _RUN_MAGIC.match(row)
            if run_magic is None:
                continued = row.endswith("\\")
                cleaned.append(f"# {row.strip()}" if is_continuation else _comment(row))
                is_continuation = continued
                continue
            row = run_magic[1] + run_magic[2]  # noqa: PLW2901 - the statement that the magic runs
        cleaned.append(row)
        quote, depth = _scan(row, quote, depth)
        is_continuation = row.endswith("\\")
    return cleaned, frozenset(string_rows)


def _comment(row: str) -> str:
    body = row.lstrip()
    indent = row[: len(row) - len(body)]
    return f"{indent}pass  # {body}" if indent and body else f"# {body}".rstrip()


def _scan(row: str, quote: str, bracket_depth: int) -> tuple[str, int]:
    """The open string's quotes and the number of open brackets at the end of a row."""
    position = 0
    while position < len(row):
        if quote:
            match = re.compile(r"\\.|" + re.escape(quote)).search(row, position)
            if match is None:
                break
            position = match.end()
            quote = "" if match[0] == quote else quote
            continue
        match = _TOKEN.search(row, position)
        if match is None or match[0] == "#":
            break
        position = match.end()
        if match[0] in "([{":
            bracket_depth += 1
        elif match[0] in ")]}":
            bracket_depth = max(bracket_depth - 1, 0)
        else:
            quote = match[0]
    # Only a triple-quoted string continues in the next row without a backslash.
    return (quote if len(quote) == 3 or row.endswith("\\") else ""), bracket_depth


# -- statements -----------------------------------------------------------------------------------------------------


def _top_level_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a statement that are not inside a function or class."""
    yield node
    if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            yield from _top_level_nodes(child)


def _asynchronous(tree: ast.Module) -> int | None:
    """The first row with `async for` or `async with` outside functions, which cannot be rewritten."""
    for node in (inner for statement in tree.body for inner in _top_level_nodes(statement)):
        if isinstance(node, ast.AsyncFor | ast.AsyncWith):
            return node.lineno - 1
        if isinstance(node, ast.comprehension) and node.is_async:
            return node.target.lineno - 1
    return None


def _replace_await(rows: Sequence[str], tree: ast.Module) -> list[str]:
    """Replaces `await x` outside functions by a call; the number of rows stays the same."""
    replaced_rows = list(rows)
    insertions: list[tuple[int, int, bytes]] = []
    for node in (inner for statement in tree.body for inner in _top_level_nodes(statement)):
        if isinstance(node, ast.Await) and node.value.end_lineno and node.value.end_col_offset is not None:
            insertions.append((node.lineno - 1, node.col_offset, b""))
            insertions.append((node.value.end_lineno - 1, node.value.end_col_offset, b")"))
    for row, column, text in sorted(insertions, reverse=True):
        data = replaced_rows[row].encode("utf-8", "surrogatepass")
        replaced = data[column:] if text else re.sub(rb"^await\b[ \t]*", AWAIT.encode() + b"(", data[column:])
        replaced_rows[row] = (data[:column] + text + replaced).decode("utf-8", "surrogatepass")
    return replaced_rows


def _parts(tree: ast.Module, rows: Sequence[str]) -> Iterator[CellPart]:
    """The statements of a cell, grouping those that share a row."""
    groups: list[list[ast.stmt]] = []
    for node in tree.body:
        if groups and _first_row(node) < (groups[-1][-1].end_lineno or 0):
            groups[-1].append(node)
        else:
            groups.append([node])
    for group in groups:
        start, end = _first_row(group[0]), group[-1].end_lineno or group[-1].lineno
        kinds = [_kind(node) for node in group]
        name = next((node.name for node in group if isinstance(node, DEFINITIONS)), "")
        yield CellPart(
            start=start,
            end=end,
            kind=next((kind for kind in (LineKind.CHECK, LineKind.TEST) if kind in kinds), kinds[0]),
            binds=frozenset().union(*(bound_names(node) for node in group)) - {"*"},
            needs=frozenset(free_names("\n".join(rows[start:end]))),
            name=name,
            is_star_import=any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in group),
            is_future_import=any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in group),
        )


def _first_row(node: ast.stmt) -> int:
    """The 0-based row where a statement begins, decorators included."""
    decorator_lines: list[int] = [item.lineno for item in getattr(node, "decorator_list", ())]
    return min([node.lineno, *decorator_lines]) - 1


def _kind(node: ast.stmt) -> LineKind:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return LineKind.IMPORT
    if isinstance(node, DEFINITIONS):
        if any("fixture" in ast.unparse(mark) for mark in node.decorator_list):
            return LineKind.TEST
        is_test_name = node.name.startswith("Test") if isinstance(node, ast.ClassDef) else node.name.startswith("test")
        return LineKind.TEST if is_test_name else LineKind.DEFINE
    if any(isinstance(inner, ast.Assert) for inner in _top_level_nodes(node)):
        return LineKind.CHECK
    return LineKind.CALL if isinstance(node, ast.Expr) else LineKind.OTHER
