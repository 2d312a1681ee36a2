"""Reads header, docstring and comments of a function, each row with its line in the file.

Reads tokens, so that a broken body or a broken rest of the file does not hide the docstring.
A plugin finds the examples that the text states in other ways than by `>>>`: an entry point of the group
`greenloop.stated_examples` names a module with `build_spec(region, text, module)`, `contradiction(region, text)` and
`stating_lines(region, text)`.
"""

from __future__ import annotations

import ast
import doctest
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.core import entry_points
from greenloop.core.python.ast_source import find_definitions, statements_of
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.text.diff import with_plain_ends

MOST = 100_000  # characters of a docstring that are read
NEAR = 20  # lines searched for a row of a docstring
_SKIPPED = frozenset({tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.COMMENT})
_MARK = re.compile(r"[ \t]*#+:?[ ]?")


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """Rows of text that belong together, each with its line in the file."""

    rows: tuple[str, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Documentation:
    """Header, docstring and comments of a function or class.

    `header` is its source from `def` or `class` up to the colon, on one line; `docstring` is the value or None.
    `blocks` has the rows of the docstring and, while the body is a stub, the comments in it and directly above it.
    """

    header: str = ""
    docstring: str | None = None
    blocks: tuple[TextBlock, ...] = ()
    written: bool = True


def find_prose_reader() -> Any:
    """The plugin that finds examples in prose, None where it is not installed."""
    return next(iter(entry_points.load_all(entry_points.STATED_EXAMPLES)), None)


def read_documentation(text: str, start: int, end: int) -> Documentation:
    """The documentation at the lines `start`..`end` of a file (decorators included) and directly above them."""
    rows = with_plain_ends(text).split("\n")
    region = "\n".join(rows[start - 1 : end])
    header, docstring, first, last = _read_opening(region)
    is_stub = is_unwritten(region)
    blocks = []
    if docstring is not None:
        docstring_rows = dedent_rows(docstring)
        is_verbatim = with_plain_ends(docstring).count("\n") == last - first
        lines = _lines(docstring_rows, rows, start + first - 1, start + last - 1, whole=is_verbatim)
        blocks.append(TextBlock(rows=tuple(docstring_rows), lines=lines))
    if is_stub:
        blocks += _comments(
            rows, start, end, skipped_lines=range(start + first - 1, start + last) if first else range(0)
        )
    return Documentation(header=header, docstring=docstring, blocks=tuple(blocks), written=not is_stub)


def dedent_rows(docstring: str) -> list[str]:
    """The rows of a docstring without their common indentation, as `inspect.cleandoc`, but without dropping rows."""
    rows = with_plain_ends(docstring[:MOST]).expandtabs().split("\n")
    margins = [len(row) - len(row.lstrip()) for row in rows[1:] if row.strip()]
    margin = min(margins, default=0)
    return [rows[0].strip(), *(row[margin:].rstrip() for row in rows[1:])]


def read_examples(docstring: str) -> list[doctest.Example] | None:
    """The `>>>` examples of a docstring; None where doctest cannot parse them."""
    try:
        return doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        return None


def doctests_in(text: str) -> dict[str, list[tuple[str, str]]]:
    """(source, expected text) of each `>>>` example in code, by the qualified name of whose docstring has it."""
    body = statements_of(text)
    documented = [("", ast.Module(body=[*body], type_ignores=[])), *find_definitions(body)]
    examples = {name: examples_in(ast.get_docstring(node) or "") for name, node in documented}
    return {name: found for name, found in examples.items() if found}


def examples_in(text: str) -> list[tuple[str, str]]:
    """(source, expected text) of each `>>>` example in a text."""
    return [(each.source, each.want) for each in read_examples(text) or ()]


def _read_opening(region: str) -> tuple[str, str | None, int, int]:
    """Header, docstring, and the docstring's first and last line, counted from 1 in the region (0: no docstring)."""
    header: list[str] = []
    strings: list[tokenize.TokenInfo] = []
    depth, in_header, after_header = 0, False, False
    try:
        for token in tokenize.generate_tokens(io.StringIO(region).readline):
            if after_header:
                if token.type == tokenize.STRING:
                    strings.append(token)
                elif token.type not in _SKIPPED or (strings and token.type == tokenize.NEWLINE):
                    break
                continue
            in_header = in_header or (
                not depth and token.type == tokenize.NAME and token.string in ("def", "class", "async")
            )
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
            if in_header and token.type not in _SKIPPED:
                header.append(token.string)
            after_header = in_header and not depth and token.string == ":"
    except (tokenize.TokenError, SyntaxError):
        pass  # the tokens before the error count
    header_text = " ".join(header)
    if not strings:
        return header_text, None, 0, 0
    try:
        value = ast.literal_eval("(" + "\n".join(token.string for token in strings) + ")")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, str):
        return header_text, None, 0, 0
    return header_text, value, strings[0].start[0], strings[-1].end[0]


def _lines(
    docstring_rows: Sequence[str], rows: Sequence[str], first: int, last: int, *, whole: bool
) -> tuple[int, ...]:
    """The line of each row of a docstring; searched for where it has escapes or continued lines (not `is_verbatim`)."""
    if whole:
        return tuple(range(first, first + len(docstring_rows)))
    result, at = [], first
    for row in docstring_rows:
        near = range(at, min(at + NEAR, last) + 1) if row.strip() else ()
        at = next((line for line in near if row.strip() in rows[line - 1]), at)
        result.append(at)
    return tuple(result)


def _comments(rows: Sequence[str], start: int, end: int, *, skipped_lines: range) -> Iterator[TextBlock]:
    """Yields comments on their own rows or after code; consecutive comment rows are one block."""
    first_line = start
    while first_line > 1 and rows[first_line - 2].lstrip().startswith("#"):
        first_line -= 1
    last_line = end
    margin = len(rows[start - 1]) - len(rows[start - 1].lstrip())
    while last_line < len(rows) and re.match(rf"[ \t]{{{margin + 1},}}#", rows[last_line]):
        last_line += 1
    consecutive: list[tuple[int, str]] = []
    for line in range(first_line, last_line + 1):
        row = rows[line - 1]
        whole = line not in skipped_lines and row.lstrip().startswith("#")
        trailing = line not in skipped_lines and not whole and re.search(r"^[^#'\"]*(#.*)$", row)
        if whole:
            consecutive.append((line, _MARK.sub("", row, count=1).rstrip()))
            continue
        if consecutive:
            yield _text_block(consecutive)
            consecutive = []
        if trailing:
            yield _text_block([(line, _MARK.sub("", trailing[1], count=1).rstrip())])
    if consecutive:
        yield _text_block(consecutive)


def _text_block(comment_rows: Sequence[tuple[int, str]]) -> TextBlock:
    return TextBlock(rows=tuple(row for _line, row in comment_rows), lines=tuple(line for line, _row in comment_rows))
