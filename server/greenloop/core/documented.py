"""What is written about a function, each row with its line in the file: docstring, comments and header.

Read token by token, so that neither a broken body nor a broken rest of the file hides the docstring.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.diff import flat
from greenloop.core.docstring import dedented
from greenloop.core.unwritten import unwritten

NEAR = 20  # lines in which a row of a docstring is looked for
_SKIPPED = frozenset({tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.COMMENT})
_MARK = re.compile(r"[ \t]*#+:?[ ]?")


@dataclass(frozen=True, kw_only=True)
class Page:
    """Rows of text that belong together, and the line of the file that each stands on."""

    rows: tuple[str, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Documented:
    """A function or class as it is described.

    `header` is its source from `def` or `class` up to the colon, on one line; `docstring` the value, None where there
    is none; `pages` its rows and, as long as the body is unwritten, those of the comments in it and right above it.
    """

    header: str = ""
    docstring: str | None = None
    pages: tuple[Page, ...] = ()
    written: bool = True


def read(text: str, start: int, end: int) -> Documented:
    """What stands at the lines `start`..`end` of a file (decorators included) and directly above them."""
    rows = flat(text).split("\n")
    region = "\n".join(rows[start - 1 : end])
    header, docstring, first, last = _opening(region)
    placeholder = unwritten(region)
    pages = []
    if docstring is not None:
        found = dedented(docstring)
        whole = flat(docstring).count("\n") == last - first
        lines = _lines(found, rows, start + first - 1, start + last - 1, whole=whole)
        pages.append(Page(rows=tuple(found), lines=lines))
    if placeholder:
        pages += _comments(rows, start, end, besides=range(start + first - 1, start + last) if first else range(0))
    return Documented(header=header, docstring=docstring, pages=tuple(pages), written=not placeholder)


def _opening(region: str) -> tuple[str, str | None, int, int]:
    """Header, docstring, and the docstring's first and last line, counted from 1 in the region (0: there is none)."""
    header: list[str] = []
    strings: list[tokenize.TokenInfo] = []
    depth, seen, closed = 0, False, False
    try:
        for token in tokenize.generate_tokens(io.StringIO(region).readline):
            if closed:
                if token.type == tokenize.STRING:
                    strings.append(token)
                elif token.type not in _SKIPPED or (strings and token.type == tokenize.NEWLINE):
                    break
                continue
            seen = seen or (not depth and token.type == tokenize.NAME and token.string in ("def", "class", "async"))
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
            if seen and token.type not in _SKIPPED:
                header.append(token.string)
            closed = seen and not depth and token.string == ":"
    except (tokenize.TokenError, SyntaxError):
        pass  # what was read until there counts
    named = " ".join(header)
    if not strings:
        return named, None, 0, 0
    try:
        value = ast.literal_eval("(" + "\n".join(token.string for token in strings) + ")")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, str):
        return named, None, 0, 0
    return named, value, strings[0].start[0], strings[-1].end[0]


def _lines(found: Sequence[str], rows: Sequence[str], first: int, last: int, *, whole: bool) -> tuple[int, ...]:
    """The line of each row of a docstring; with escapes or continued lines (not `whole`) it is looked for."""
    if whole:
        return tuple(range(first, first + len(found)))
    result, at = [], first
    for row in found:
        near = range(at, min(at + NEAR, last) + 1) if row.strip() else ()
        at = next((line for line in near if row.strip() in rows[line - 1]), at)
        result.append(at)
    return tuple(result)


def _comments(rows: Sequence[str], start: int, end: int, *, besides: range) -> Iterator[Page]:
    """Comments in rows of their own or behind code, those in rows that follow one another as one page."""
    first = start
    while first > 1 and rows[first - 2].lstrip().startswith("#"):
        first -= 1
    last = end
    margin = len(rows[start - 1]) - len(rows[start - 1].lstrip())
    while last < len(rows) and re.match(rf"[ \t]{{{margin + 1},}}#", rows[last]):
        last += 1
    page: list[tuple[int, str]] = []
    for line in range(first, last + 1):
        row = rows[line - 1]
        whole = line not in besides and row.lstrip().startswith("#")
        behind = line not in besides and not whole and re.search(r"^[^#'\"]*(#.*)$", row)
        if whole:
            page.append((line, _MARK.sub("", row, count=1).rstrip()))
            continue
        if page:
            yield _page(page)
            page = []
        if behind:
            yield _page([(line, _MARK.sub("", behind[1], count=1).rstrip())])
    if page:
        yield _page(page)


def _page(found: Sequence[tuple[int, str]]) -> Page:
    return Page(rows=tuple(row for _line, row in found), lines=tuple(line for line, _row in found))
