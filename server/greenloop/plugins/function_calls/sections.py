"""Parses docstring sections (parameters, result, exceptions) in numpy, Google and Sphinx style.

Pure text work that never fails: an unknown form is plain text. Rows keep their numbers, nothing in a known section is
dropped, and only the first `MAX_CHARACTERS` are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from greenloop.core.documentation import dedent_rows
from greenloop.plugins.function_calls.literals import parse_expression


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A documented parameter, exception or result; only numpy's style gives a result a name.

    `type` is as written, without `optional` and `default …`; `line` counts from 1.
    """

    name: str = ""
    type: str = ""
    text: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Sections:
    """The content of the sections. `yields`: there is a section on yielded values, so a call returns a generator."""

    params: tuple[Entry, ...] = ()
    returns: Entry | None = None
    raises: tuple[Entry, ...] = ()
    yields: bool = False


_KINDS = {
    **dict.fromkeys(("args", "arguments", "argument", "parameters", "parameter", "params"), "params"),
    **dict.fromkeys(("other parameters", "keyword args", "keyword arguments", "kwargs"), "params"),
    **dict.fromkeys(("returns", "return"), "returns"),
    **dict.fromkeys(("yields", "yield"), "yields"),
    **dict.fromkeys(("raises", "raise", "exceptions", "throws"), "raises"),
    **dict.fromkeys(
        ("example", "examples", "note", "notes", "see also", "references", "warning", "warnings", "warns", "todo"),
        "other",
    ),
    **dict.fromkeys(("attributes", "methods", "usage", "complexity", "tests", "doctest", "doctests"), "other"),
}
_TAGS = {
    **dict.fromkeys(("param", "parameter", "arg", "argument", "keyword", "kwarg", "key"), "params"),
    **dict.fromkeys(("return", "returns"), "returns"),
    **dict.fromkeys(("yield", "yields"), "yields"),
    **dict.fromkeys(("raise", "raises", "except", "exception", "throws"), "raises"),
}
_RULE = re.compile(r"[-=~]{3,}$")
_MARKED = re.compile(r"(?:#+\s+|\*\*)(?P<plain>[^*#]+?)(?:\*\*:?)?$")
_FIELD = re.compile(r"[:@](?P<tag>[a-z]+)(?:[ ]+(?P<about>[^:]*?))?:(?:\s+(?P<text>.*))?$")
_ENTRY = re.compile(
    r"(?P<name>\*{0,2}`*\*{0,2}[\w.]+`*)\s*(?:\((?P<type>.*?)\))?\s*(?::|--|\u2013|\u2014|-\s)\s*(?P<text>.*)$"
)
_BARE = re.compile(r"(?P<name>\*{0,2}\w+)\s*(?:\((?P<type>.*)\))?$")
_TYPED = re.compile(r"(?P<type>[\w.]+(?:\[.*\])?(?:\s*(?:\||or|,)\s*[\w.]+(?:\[.*\])?)*)\s*:\s+(?P<text>.*)$")
_OPTIONAL = re.compile(r",?\s*(?:\boptional\b|\bdefault\b.*|\bkeyword-only\b).*$", re.IGNORECASE)


def parse_sections(docstring: str) -> Sections:
    """Parameters, result and exceptions of all sections; of several result sections, the first counts."""
    rows = dedent_rows(docstring)
    found: dict[str, list[Entry]] = {"params": [], "returns": [], "raises": [], "yields": [], "other": []}
    types: dict[str, str] = {}
    number = 0
    while number < len(rows):
        kind, last = _heading(rows, number)
        end = _section_end(rows, number, last) if kind else number + 1
        if kind:
            found[kind] += _read_section(kind, rows, number, last, end)
        elif match := _FIELD.match(rows[number].strip()):
            while end < len(rows) and rows[end].strip() and _margin(rows[end]) > _margin(rows[number]):
                end += 1
            text, about = _text([match["text"] or "", *rows[number + 1 : end]]), (match["about"] or "").strip()
            if match["tag"] in ("type", "rtype"):
                types[about if match["tag"] == "type" else "return"] = _type(text)
            elif kind := _TAGS.get(match["tag"], ""):
                found[kind] += _read_field(kind, about, text, number + 1)
        number = end
    returns = next(iter(found["returns"]), None)
    if "return" in types:
        returns = replace(returns or Entry(), type=types["return"])
    return Sections(
        params=tuple(replace(each, type=each.type or types.get(each.name, "")) for each in found["params"]),
        returns=returns,
        raises=tuple(found["raises"]),
        yields=bool(found["yields"]),
    )


def section_kind(heading: str) -> str:
    """The section that a row begins: params, returns, yields, raises, other; "" where it is not a heading."""
    row = heading.strip()
    marked = _MARKED.match(row)
    return _KINDS.get((marked["plain"] if marked else row).strip().removesuffix(":").lower(), "")


def _heading(rows: Sequence[str], number: int) -> tuple[str, int]:
    """The kind of section that begins at a row, and the last row of its heading."""
    row = rows[number].strip()
    kind = section_kind(row) if len(row) < 40 else ""  # no heading is longer
    next_row = rows[number + 1] if number + 1 < len(rows) else ""
    if kind and _RULE.match(next_row.strip()) and _margin(next_row) == _margin(rows[number]):
        return kind, number + 1
    if kind and (_MARKED.match(row) or row.endswith(":")):
        return kind, number
    heading_text, colon, rest = row.partition(":")
    if colon and rest.startswith(" ") and section_kind(heading_text) == "returns" and heading_text[0].isupper():
        return "returns", number
    return "", number


def _section_end(rows: Sequence[str], number: int, last: int) -> int:
    """The row after a section, which ends at a heading or at a row that is not below its own heading."""
    margin = _margin(rows[number])
    is_marked = last > number or _MARKED.match(rows[number].strip())  # its rows have the same indentation
    is_inline = not is_marked and not rows[number].strip().endswith(":")
    for position in range(last + 1, len(rows)):
        row = rows[position]
        if not row.strip():
            if is_inline:
                return position
        elif number and _margin(row) < margin:
            return position
        elif number and _margin(row) > margin:
            continue
        elif _heading(rows, position)[0] or row[margin:][:1] == "#" or (number and not is_marked and not is_inline):
            return position  # in the first row the indentation of a heading is not known
    return len(rows)


def _read_section(kind: str, rows: Sequence[str], number: int, last: int, end: int) -> Iterable[Entry]:
    if kind == "params":
        return _params(rows, last + 1, end)
    if kind == "raises":
        return _raises(rows, last + 1, end)
    inline = rows[number].partition(":")[2].strip() if last == number else ""
    return [_result(inline, rows[last + 1 : end], number + 1, ruled=last > number)]


def _read_field(kind: str, about: str, text: str, line: int) -> Iterable[Entry]:
    if kind == "params":
        type_, _space, name = about.rpartition(" ")
        return [Entry(name=_plain(name), type=_type(type_), text=text, line=line)] if about else []
    if kind == "raises":
        return [Entry(name=_plain(name), text=text, line=line) for name in re.split(r",| or ", about) if name.strip()]
    return [Entry(text=text, line=line)]


def _entries(rows: Sequence[str], first: int, end: int) -> Iterator[tuple[int, str, str]]:
    """Yields line number, head and indented text of each entry of a section."""
    margin = min((_margin(row) for row in rows[first:end] if row.strip()), default=0)
    position = first
    while position < end:
        if not rows[position].strip():
            position += 1
            continue
        next_entry = position + 1
        while next_entry < end and (not rows[next_entry].strip() or _margin(rows[next_entry]) > margin):
            next_entry += 1
        yield (
            position + 1,
            rows[position].strip().removeprefix("- ").removeprefix("* ").strip(),
            _text(rows[position + 1 : next_entry]),
        )
        position = next_entry


def _params(rows: Sequence[str], first: int, end: int) -> Iterator[Entry]:
    for line, head, indented in _entries(rows, first, end):
        match = _ENTRY.match(head) or _BARE.match(head)
        names, colon, type_text = head.partition(" : ")
        if colon or (not match and "," in head):
            names, type_text = (names, type_text) if colon else (head, "")
            for name in names.split(","):
                yield Entry(name=_plain(name), type=_type(type_text), text=indented, line=line)
        elif match:
            text = " ".join(filter(None, (match.groupdict().get("text"), indented)))
            yield Entry(name=_plain(match["name"]), type=_type(match["type"] or ""), text=text, line=line)


def _raises(rows: Sequence[str], first: int, end: int) -> Iterator[Entry]:
    for line, head, indented in _entries(rows, first, end):
        names, colon, text = head.partition(":")
        if not colon and not re.fullmatch(r"[\w.`, ]+", head):
            names, text = "", head
        for name in re.split(r",| or ", names):
            if re.fullmatch(r"[\w.]+", _plain(name)):
                yield Entry(name=_plain(name), text=" ".join(filter(None, (text.strip(), indented))), line=line)


def _result(inline: str, rows: Sequence[str], line: int, *, ruled: bool) -> Entry:
    filled = [row for row in rows if row.strip()]
    if ruled and filled:
        head, text = filled[0].strip(), _text(filled[1:])
        name, colon, type_ = head.partition(" : ")
        if colon or text or _is_type(head):
            return Entry(name=name if colon else "", type=_type(type_ if colon else head), text=text, line=line)
    text = _text([inline, *rows])
    if (match := _TYPED.match(text)) and _is_type(match["type"]):
        return Entry(type=_type(match["type"]), text=match["text"], line=line)
    return Entry(text=text, line=line)


def _is_type(text: str) -> bool:
    """Does it parse as an annotation?"""
    return parse_expression(re.sub(r"\bor\b", "|", text)) is not None


def _type(text: str) -> str:
    return _OPTIONAL.sub("", text).strip().strip("`").strip()


def _plain(name: str) -> str:
    return name.strip().strip("`").lstrip("*\\").strip()


def _text(rows: Sequence[str]) -> str:
    return " ".join(" ".join(rows).split())


def _margin(row: str) -> int:
    return len(row) - len(row.lstrip())
