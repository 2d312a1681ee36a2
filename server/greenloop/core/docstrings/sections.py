"""Parses docstring sections (parameters, result, exceptions) in numpy, Google and Sphinx style.

Pure text work that never fails: an unknown form is plain text. Rows keep their numbers, nothing in a known section is
dropped, and only the first `MAX_CHARACTERS` are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from greenloop.core.docstrings.literals import parse_expression
from greenloop.core.text.diff import with_plain_ends

MOST = 100_000


@dataclass(frozen=True, kw_only=True)
class DocumentedParameter:
    """A documented parameter. `type` is as written, without `optional` and `default …`; `line` counts from 1."""

    name: str
    type: str = ""
    text: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class DocumentedResult:
    """The documented result; `name` only where numpy's style gives it one."""

    type: str = ""
    text: str = ""
    name: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class DocumentedException:
    """A documented exception, and when it is raised."""

    name: str
    text: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Sections:
    """The content of the sections. `yields`: there is a section on yielded values, so a call returns a generator."""

    params: tuple[DocumentedParameter, ...] = ()
    returns: DocumentedResult | None = None
    raises: tuple[DocumentedException, ...] = ()
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
    parsed = Sections()
    types: dict[str, str] = {}
    number = 0
    while number < len(rows):
        kind, last = _heading(rows, number)
        if kind:
            end = _section_end(rows, number, last)
            parsed = _join_sections(parsed, _read_section(kind, rows, number, last, end))
            number = end
        elif match := _FIELD.match(rows[number].strip()):
            end = _field_end(rows, number)
            text = _text([match["text"] or "", *rows[number + 1 : end]])
            field_argument = (match["about"] or "").strip()
            if match["tag"] == "type" or (match["tag"] == "rtype"):
                types[field_argument if match["tag"] == "type" else "return"] = text
            else:
                parsed = _join_sections(parsed, _field(match["tag"], field_argument, text, number + 1))
            number = end
        else:
            number += 1
    return _with_types(parsed, types)


def dedent_rows(docstring: str) -> list[str]:
    """The rows of a docstring without their common indentation, as `inspect.cleandoc`, but without dropping rows."""
    rows = with_plain_ends(docstring[:MOST]).expandtabs().split("\n")
    margins = [len(row) - len(row.lstrip()) for row in rows[1:] if row.strip()]
    margin = min(margins, default=0)
    return [rows[0].strip(), *(row[margin:].rstrip() for row in rows[1:])]


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


def _field_end(rows: Sequence[str], number: int) -> int:
    """The row after a field; indented rows below it belong to it."""
    position = number + 1
    while position < len(rows) and rows[position].strip() and _margin(rows[position]) > _margin(rows[number]):
        position += 1
    return position


def _read_section(kind: str, rows: Sequence[str], number: int, last: int, end: int) -> Sections:
    inline = rows[number].partition(":")[2].strip() if last == number else ""
    if kind == "yields":
        return Sections(yields=True)
    if kind == "returns":
        return Sections(returns=_result(inline, rows[last + 1 : end], number + 1, ruled=last > number))
    if kind == "params":
        return Sections(params=tuple(_params(rows, last + 1, end)))
    if kind == "raises":
        return Sections(raises=tuple(_raises(rows, last + 1, end)))
    return Sections()


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


def _params(rows: Sequence[str], first: int, end: int) -> Iterator[DocumentedParameter]:
    for line, head, indented in _entries(rows, first, end):
        match = _ENTRY.match(head) or _BARE.match(head)
        names, colon, type_text = head.partition(" : ")
        if colon or (not match and "," in head):
            names, type_text = (names, type_text) if colon else (head, "")
            for name in names.split(","):
                yield DocumentedParameter(name=_plain(name), type=_type(type_text), text=indented, line=line)
        elif match:
            text = " ".join(filter(None, (match.groupdict().get("text"), indented)))
            yield DocumentedParameter(name=_plain(match["name"]), type=_type(match["type"] or ""), text=text, line=line)


def _raises(rows: Sequence[str], first: int, end: int) -> Iterator[DocumentedException]:
    for line, head, indented in _entries(rows, first, end):
        names, colon, text = head.partition(":")
        if not colon and not re.fullmatch(r"[\w.`, ]+", head):
            names, text = "", head
        for name in re.split(r",| or ", names):
            if re.fullmatch(r"[\w.]+", _plain(name)):
                yield DocumentedException(
                    name=_plain(name), text=" ".join(filter(None, (text.strip(), indented))), line=line
                )


def _result(inline: str, rows: Sequence[str], line: int, *, ruled: bool) -> DocumentedResult:
    filled = [row for row in rows if row.strip()]
    if ruled and filled:
        head, text = filled[0].strip(), _text(filled[1:])
        name, colon, type_ = head.partition(" : ")
        if colon or text or _is_type(head):
            return DocumentedResult(
                name=name if colon else "", type=_type(type_ if colon else head), text=text, line=line
            )
    text = _text([inline, *rows])
    if (match := _TYPED.match(text)) and _is_type(match["type"]):
        return DocumentedResult(type=_type(match["type"]), text=match["text"], line=line)
    return DocumentedResult(text=text, line=line)


def _field(tag: str, subject: str, text: str, line: int) -> Sections:
    if tag in ("param", "parameter", "arg", "argument", "keyword", "kwarg", "key") and subject:
        type_, _space, name = subject.rpartition(" ")
        return Sections(params=(DocumentedParameter(name=_plain(name), type=_type(type_), text=text, line=line),))
    if tag in ("return", "returns"):
        return Sections(returns=DocumentedResult(text=text, line=line))
    if tag in ("raise", "raises", "except", "exception", "throws"):
        names = [_plain(name) for name in re.split(r",| or ", subject) if name.strip()]
        return Sections(raises=tuple(DocumentedException(name=name, text=text, line=line) for name in names))
    return Sections(yields=tag in ("yield", "yields"))


def _join_sections(first: Sections, second: Sections) -> Sections:
    return Sections(
        params=first.params + second.params,
        returns=first.returns or second.returns,
        raises=first.raises + second.raises,
        yields=first.yields or second.yields,
    )


def _with_types(sections: Sections, types: dict[str, str]) -> Sections:
    """Adds the types that have fields of their own (`:type x:`, `:rtype:`)."""
    params = tuple(replace(param, type=param.type or _type(types.get(param.name, ""))) for param in sections.params)
    returns = sections.returns
    if "return" in types:
        returns = replace(returns or DocumentedResult(), type=_type(types["return"]))
    return replace(sections, params=params, returns=returns)


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
