"""The definitions of a text that the parser has lost its way in: indentation is what is left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.grammar import Definition

_HEADER = re.compile(r"^([ \t\f]*)(?:(async)[ \t]+)?(def|class)[ \t]+([^\W\d]\w*)[ \t]*(?=[(\[:\\]|\r?\n?$)")


@dataclass(kw_only=True)
class _Open:
    """A header whose block is being read; `end` is the last row of code seen in it."""

    indent: int
    qualname: str
    row: int
    header_end: int
    header: re.Match[str]
    nested: bool
    end: int = 0


def by_indentation(rows: Sequence[str]) -> list[Definition]:
    inside = string_rows(rows)
    found = []
    stack: list[_Open] = []
    last = 0
    for row, line in enumerate(rows):
        bare = line.lstrip(" \t\f")
        if not bare or bare[0] in "#\r\n":
            continue
        indent = _width(line[: len(line) - len(bare)])
        header = _HEADER.match(line) if bare.startswith(("def ", "class ", "async ")) else None
        leaves = bool(stack) and indent <= stack[-1].indent and bare[0] not in ")]}"
        if (leaves or header) and row not in inside:
            while leaves and stack and indent <= stack[-1].indent:
                stack[-1].end = last
                found.append(stack.pop())
            if header:
                prefix = f"{stack[-1].qualname}." if stack else ""
                nested = bool(stack) and (stack[-1].nested or stack[-1].header[3] == "def")
                stack.append(
                    _Open(
                        indent=indent,
                        qualname=prefix + header[4],
                        row=row,
                        header_end=_header_end(rows, row),
                        header=header,
                        nested=nested,
                    )
                )
        last = row
    for item in stack:
        item.end = last
    found.extend(stack)
    return [_opened(item, rows) for item in sorted(found, key=lambda item: item.row) if not item.nested]


def _opened(item: _Open, rows: Sequence[str]) -> Definition:
    is_class = item.header[3] == "class"
    start = _first_decorator(rows, item.row, item.indent)
    docstring = _docstring_rows(rows, item.header_end + 1)
    return Definition(
        kind="class" if is_class else "function",
        name=item.header[4],
        qualname=item.qualname,
        start=start + 1,
        end=max(item.end, item.header_end) + 1,
        name_line=item.row + 1,
        header_end=item.header_end + 1,
        bases=_bases("".join(rows[item.row : item.header_end + 1])) if is_class else (),
        decorators=tuple(line.strip()[1:].strip() for line in rows[start : item.row] if line.lstrip().startswith("@")),
        docstring=docstring,
        examples=docstring is not None and any(">>>" in row for row in rows[docstring[0] - 1 : docstring[1]]),
        asynchronous=item.header[2] == "async",
    )


def string_rows(rows: Sequence[str]) -> set[int]:
    """Rows that begin inside a string of several lines; the parser cannot tell once it has lost its way."""
    text = "".join(rows)
    unclosed = text.count('"""') % 2 == 1 or text.count("'''") % 2 == 1
    found: set[int] = set()
    row = at = place = 0
    while match := _QUOTED.search(text, place):
        place = match.end()
        if match["long"] is None or "\n" not in match["long"]:
            continue
        if unclosed and _MARGIN.search(match["long"]):
            # A quote that is not closed turns code into "strings"; definitions at the margin tell.
            place = match.start() + 3
            continue
        row, at = row + text.count("\n", at, match.start()), match.start()
        found.update(range(row + 1, row + 1 + match["long"].count("\n")))
    return found


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
    depth = 0
    for index in range(row, min(row + 400, len(rows))):
        code = _CODE.sub("", rows[index])
        depth += sum(code.count(mark) for mark in "([{") - sum(code.count(mark) for mark in ")]}")
        if depth <= 0 and ":" in code:
            return index
    return row  # The header itself is what is broken.


_CODE = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|#.*")


def _first_decorator(rows: Sequence[str], row: int, indent: int) -> int:
    start = row
    index = row - 1
    depth = 0
    while index >= 0 and rows[index].strip():
        code = _CODE.sub("", rows[index]).strip()
        depth += sum(code.count(mark) for mark in ")]}") - sum(code.count(mark) for mark in "([{")
        if code.startswith("@") and _indent_of(rows[index]) == indent:
            start, depth = index, 0
        elif depth <= 0 and not rows[index].lstrip().startswith("#"):
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
