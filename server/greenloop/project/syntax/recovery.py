"""Error recovery: finds the definitions of a text with syntax errors by its indentation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.project.syntax.tree_sitter import Definition

_HEADER = re.compile(r"^([ \t\f]*)(?:(async)[ \t]+)?(def|class)[ \t]+([^\W\d]\w*)[ \t]*(?=[(\[:\\]|\r?\n?$)")


@dataclass(kw_only=True)
class _OpenBlock:
    """A header whose block is being read; `end` is the last row of code seen in it so far."""

    indent: int
    qualname: str
    row: int
    header_end: int
    header: re.Match[str]
    nested: bool
    end: int = 0


def definitions_by_indentation(rows: Sequence[str]) -> list[Definition]:
    """The definitions whose headers are recognisable, in the order of the text; blocks end by indentation."""
    string_lines = string_rows(rows)
    closed = []
    open_blocks: list[_OpenBlock] = []
    last_row = 0
    for row, line in enumerate(rows):
        stripped = line.lstrip(" \t\f")
        if not stripped or stripped[0] in "#\r\n":
            continue
        indent = _width(line[: len(line) - len(stripped)])
        header = _HEADER.match(line) if stripped.startswith(("def ", "class ", "async ")) else None
        ends_block = bool(open_blocks) and indent <= open_blocks[-1].indent and stripped[0] not in ")]}"
        if (ends_block or header) and row not in string_lines:
            while ends_block and open_blocks and indent <= open_blocks[-1].indent:
                open_blocks[-1].end = last_row
                closed.append(open_blocks.pop())
            if header:
                prefix = f"{open_blocks[-1].qualname}." if open_blocks else ""
                nested = bool(open_blocks) and (open_blocks[-1].nested or open_blocks[-1].header[3] == "def")
                open_blocks.append(
                    _OpenBlock(
                        indent=indent,
                        qualname=prefix + header[4],
                        row=row,
                        header_end=_header_end(rows, row),
                        header=header,
                        nested=nested,
                    )
                )
        last_row = row
    for item in open_blocks:
        item.end = last_row
    closed.extend(open_blocks)
    return [_make_definition(item, rows) for item in sorted(closed, key=lambda item: item.row) if not item.nested]


def _make_definition(block: _OpenBlock, rows: Sequence[str]) -> Definition:
    is_class = block.header[3] == "class"
    start = _first_decorator(rows, block.row, block.indent)
    docstring = _docstring_rows(rows, block.header_end + 1)
    return Definition(
        kind="class" if is_class else "function",
        name=block.header[4],
        qualname=block.qualname,
        start=start + 1,
        end=max(block.end, block.header_end) + 1,
        name_line=block.row + 1,
        header_end=block.header_end + 1,
        bases=_bases("".join(rows[block.row : block.header_end + 1])) if is_class else (),
        decorators=tuple(line.strip()[1:].strip() for line in rows[start : block.row] if line.lstrip().startswith("@")),
        docstring=docstring,
        examples=docstring is not None and any(">>>" in row for row in rows[docstring[0] - 1 : docstring[1]]),
        asynchronous=block.header[2] == "async",
    )


def string_rows(rows: Sequence[str]) -> set[int]:
    """Rows that begin inside a multi-line string; after a syntax error the parser cannot tell."""
    text = "".join(rows)
    unclosed = text.count('"""') % 2 == 1 or text.count("'''") % 2 == 1
    inside: set[int] = set()
    row = counted_to = position = 0
    while match := _QUOTED.search(text, position):
        position = match.end()
        if match["long"] is None or "\n" not in match["long"]:
            continue
        if unclosed and _MARGIN.search(match["long"]):
            # An unclosed quote turns code into "strings"; unindented definitions inside reveal it.
            position = match.start() + 3
            continue
        row, counted_to = row + text.count("\n", counted_to, match.start()), match.start()
        inside.update(range(row + 1, row + 1 + match["long"].count("\n")))
    return inside


_QUOTED = re.compile(
    r"#[^\n]*"
    r"|(?P<long>\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?''')"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
_MARGIN = re.compile(r"^(?:def|class|async def) ", re.MULTILINE)


def _width(blank: str) -> int:
    return len(blank.replace("\f", "").expandtabs(8))


def _indent_of(line: str) -> int:
    return _width(line[: len(line) - len(line.lstrip(" \t\f"))])


def _header_end(rows: Sequence[str], row: int) -> int:
    bracket_depth = 0
    for index in range(row, min(row + 400, len(rows))):
        code = _CODE.sub("", rows[index])
        bracket_depth += sum(code.count(mark) for mark in "([{") - sum(code.count(mark) for mark in ")]}")
        if bracket_depth <= 0 and ":" in code:
            return index
    return row  # The header itself is broken.


_CODE = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|#.*")


def _first_decorator(rows: Sequence[str], row: int, indent: int) -> int:
    start = row
    index = row - 1
    bracket_depth = 0
    while index >= 0 and rows[index].strip():
        code = _CODE.sub("", rows[index]).strip()
        bracket_depth += sum(code.count(mark) for mark in ")]}") - sum(code.count(mark) for mark in "([{")
        if code.startswith("@") and _indent_of(rows[index]) == indent:
            start, bracket_depth = index, 0
        elif bracket_depth <= 0 and not rows[index].lstrip().startswith("#"):
            break
        index -= 1
    return start


def _bases(header: str) -> tuple[str, ...]:
    _before, parenthesis, rest = header.partition("(")
    inner = rest.rpartition(")")[0]
    return tuple(part.strip() for part in inner.split(",") if part.strip()) if parenthesis else ()


def _docstring_rows(rows: Sequence[str], row: int) -> tuple[int, int] | None:
    while row < len(rows) and rows[row].strip()[:1] in {"", "#"}:
        row += 1
    if row >= len(rows) or not (match := _OPENING.match(rows[row])):
        return None
    quotes = match[1]
    if quotes in rows[row][match.end() :] or len(quotes) == 1:
        return row + 1, row + 1
    for index in range(row + 1, len(rows)):
        if quotes in rows[index]:
            return row + 1, index + 1
    return None


_OPENING = re.compile(r"[ \t]*[rRuU]?(\"\"\"|'''|\"|')")
