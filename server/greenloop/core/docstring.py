"""The sections of a docstring: parameters, result and exceptions, as numpy, Google and Sphinx have them written.

Pure text work that never fails: what has no known form is text. Rows keep their numbers, nothing that was written in a
known section is dropped, and what stands behind the first `MOST` characters is not read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from greenloop.core.diff import flat

MOST = 100_000


@dataclass(frozen=True, kw_only=True)
class Param:
    """A parameter as documented. `type` is as written, without `optional` and `default …`; `line` counts from 1."""

    name: str
    type: str = ""
    text: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Returned:
    """What is said of the result; `name` only where numpy's form gives it one."""

    type: str = ""
    text: str = ""
    name: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Raised:
    """An exception that is allowed, and when."""

    name: str
    text: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class Sections:
    """What the sections say. `yields`: there is one on what is yielded, so that a call returns a generator."""

    params: tuple[Param, ...] = ()
    returns: Returned | None = None
    raises: tuple[Raised, ...] = ()
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


def sections(docstring: str) -> Sections:
    """Parameters, result and exceptions; of several sections of one kind all count, of results the first."""
    rows = dedented(docstring)
    found = Sections()
    types: dict[str, str] = {}
    number = 0
    while number < len(rows):
        kind, last = _heading(rows, number)
        if kind:
            end = _end(rows, number, last)
            found = _joined(found, _read(kind, rows, number, last, end))
            number = end
        elif match := _FIELD.match(rows[number].strip()):
            end = _below(rows, number)
            text = _text([match["text"] or "", *rows[number + 1 : end]])
            about = (match["about"] or "").strip()
            if match["tag"] == "type" or (match["tag"] == "rtype"):
                types[about if match["tag"] == "type" else "return"] = text
            else:
                found = _joined(found, _field(match["tag"], about, text, number + 1))
            number = end
        else:
            number += 1
    return _typed(found, types)


def dedented(docstring: str) -> list[str]:
    """The rows of a docstring without their common margin, as `inspect.cleandoc` does, but each in its place."""
    rows = flat(docstring[:MOST]).expandtabs().split("\n")
    margins = [len(row) - len(row.lstrip()) for row in rows[1:] if row.strip()]
    margin = min(margins, default=0)
    return [rows[0].strip(), *(row[margin:].rstrip() for row in rows[1:])]


def kind_of(heading: str) -> str:
    """Which section a row begins: params, returns, yields, raises, other; empty when it is no heading."""
    row = heading.strip()
    marked = _MARKED.match(row)
    return _KINDS.get((marked["plain"] if marked else row).strip().removesuffix(":").lower(), "")


def _heading(rows: Sequence[str], number: int) -> tuple[str, int]:
    """The kind of section that begins at a row, and the last row of its heading."""
    row = rows[number].strip()
    kind = kind_of(row) if len(row) < 40 else ""  # no heading is longer
    below = rows[number + 1] if number + 1 < len(rows) else ""
    if kind and _RULE.match(below.strip()) and _margin(below) == _margin(rows[number]):
        return kind, number + 1
    if kind and (_MARKED.match(row) or row.endswith(":")):
        return kind, number
    first, colon, rest = row.partition(":")
    if colon and rest.startswith(" ") and kind_of(first) == "returns" and first[0].isupper():
        return "returns", number
    return "", number


def _end(rows: Sequence[str], number: int, last: int) -> int:
    """The row behind a section: a heading ends it, and where the heading stands indented, what is not below it."""
    margin = _margin(rows[number])
    marked = last > number or _MARKED.match(rows[number].strip())  # what belongs to it stands at the same margin
    inline = not marked and not rows[number].strip().endswith(":")
    for at in range(last + 1, len(rows)):
        row = rows[at]
        if not row.strip():
            if inline:
                return at
        elif number and _margin(row) < margin:
            return at
        elif number and _margin(row) > margin:
            continue
        elif _heading(rows, at)[0] or row[margin:][:1] == "#" or (number and not marked and not inline):
            return at  # in the first row a heading's margin is not known
    return len(rows)


def _below(rows: Sequence[str], number: int) -> int:
    """The row behind a field: what is indented below it belongs to it."""
    at = number + 1
    while at < len(rows) and rows[at].strip() and _margin(rows[at]) > _margin(rows[number]):
        at += 1
    return at


def _read(kind: str, rows: Sequence[str], number: int, last: int, end: int) -> Sections:
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
    """Row number, head and what is indented below it, for each entry of a section."""
    margin = min((_margin(row) for row in rows[first:end] if row.strip()), default=0)
    at = first
    while at < end:
        if not rows[at].strip():
            at += 1
            continue
        below = at + 1
        while below < end and (not rows[below].strip() or _margin(rows[below]) > margin):
            below += 1
        yield at + 1, rows[at].strip().removeprefix("- ").removeprefix("* ").strip(), _text(rows[at + 1 : below])
        at = below


def _params(rows: Sequence[str], first: int, end: int) -> Iterator[Param]:
    for line, head, below in _entries(rows, first, end):
        match = _ENTRY.match(head) or _BARE.match(head)
        names, colon, said = head.partition(" : ")
        if colon or (not match and "," in head):
            names, said = (names, said) if colon else (head, "")
            for name in names.split(","):
                yield Param(name=_plain(name), type=_type(said), text=below, line=line)
        elif match:
            text = " ".join(filter(None, (match.groupdict().get("text"), below)))
            yield Param(name=_plain(match["name"]), type=_type(match["type"] or ""), text=text, line=line)


def _raises(rows: Sequence[str], first: int, end: int) -> Iterator[Raised]:
    for line, head, below in _entries(rows, first, end):
        names, colon, said = head.partition(":")
        if not colon and not re.fullmatch(r"[\w.`, ]+", head):
            names, said = "", head
        for name in re.split(r",| or ", names):
            if re.fullmatch(r"[\w.]+", _plain(name)):
                yield Raised(name=_plain(name), text=" ".join(filter(None, (said.strip(), below))), line=line)


def _result(inline: str, rows: Sequence[str], line: int, *, ruled: bool) -> Returned:
    filled = [row for row in rows if row.strip()]
    if ruled and filled:
        head, text = filled[0].strip(), _text(filled[1:])
        name, colon, type_ = head.partition(" : ")
        if colon or text or _is_type(head):
            return Returned(name=name if colon else "", type=_type(type_ if colon else head), text=text, line=line)
    text = _text([inline, *rows])
    if (match := _TYPED.match(text)) and _is_type(match["type"]):
        return Returned(type=_type(match["type"]), text=match["text"], line=line)
    return Returned(text=text, line=line)


def _field(tag: str, about: str, text: str, line: int) -> Sections:
    if tag in ("param", "parameter", "arg", "argument", "keyword", "kwarg", "key") and about:
        type_, _space, name = about.rpartition(" ")
        return Sections(params=(Param(name=_plain(name), type=_type(type_), text=text, line=line),))
    if tag in ("return", "returns"):
        return Sections(returns=Returned(text=text, line=line))
    if tag in ("raise", "raises", "except", "exception", "throws"):
        names = [_plain(name) for name in re.split(r",| or ", about) if name.strip()]
        return Sections(raises=tuple(Raised(name=name, text=text, line=line) for name in names))
    return Sections(yields=tag in ("yield", "yields"))


def _joined(one: Sections, other: Sections) -> Sections:
    return Sections(
        params=one.params + other.params,
        returns=one.returns or other.returns,
        raises=one.raises + other.raises,
        yields=one.yields or other.yields,
    )


def _typed(found: Sections, types: dict[str, str]) -> Sections:
    """With the types that stand in fields of their own."""
    params = tuple(replace(param, type=param.type or _type(types.get(param.name, ""))) for param in found.params)
    returns = found.returns
    if "return" in types:
        returns = replace(returns or Returned(), type=_type(types["return"]))
    return replace(found, params=params, returns=returns)


def _is_type(text: str) -> bool:
    """Can it be read as an annotation?"""
    try:
        ast.parse(re.sub(r"\bor\b", "|", text), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _type(text: str) -> str:
    return _OPTIONAL.sub("", text).strip().strip("`").strip()


def _plain(name: str) -> str:
    return name.strip().strip("`").lstrip("*\\").strip()


def _text(rows: Sequence[str]) -> str:
    return " ".join(" ".join(rows).split())


def _margin(row: str) -> int:
    return len(row) - len(row.lstrip())
