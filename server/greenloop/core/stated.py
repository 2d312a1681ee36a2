"""Everything that docstring and comments of a function say must hold, besides its `>>>` examples, and where.

What a `>>>` example says already is not said again; two values for one call are a contradiction, which nobody but the
user can settle.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from greenloop.core import values
from greenloop.core.asserts import asserts, cells, compared, pairs
from greenloop.core.calls import Subject, fits, plain
from greenloop.core.docstring import MOST, sections
from greenloop.core.documented import Documented
from greenloop.core.equations import Stated, equations, raising, stated

CHECKS = 100  # that are taken of one docstring
_LAZY = re.compile(r"\b(?:generators?|lazily|iterator)\b|->\s*(?:\w+\s*\.\s*)*(?:Async)?(?:Iterator|Generator)\b")
_ELSEWHERE = re.compile(r"\bin[- ]?place\b|^\s*(?:prints?|writes?|outputs?|logs?)\b", re.IGNORECASE)
_READS = re.compile(r"\bstd(?:in|out)\b|\bprint(?:s|ed|ing)?\b|\breads?\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Told:
    """`checks` with the line of the file that each stands on; `clash`: a contradiction in one sentence, if any.

    `doubts` name in one sentence each what looks like an example and cannot hold.
    """

    checks: tuple[tuple[int, Stated], ...] = ()
    clash: str = ""
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Known:
    """What one line says of a call; `written`: a check is written for it, `>>>` examples are cases already."""

    line: int
    expected: str
    raises: str
    written: bool

    def told(self) -> str:
        return f"raises {self.raises}" if self.raises else f"is {self.expected}"

    def contradicts(self, other: _Known) -> bool:
        if self.raises or other.raises:
            return bool(self.raises) != bool(other.raises)  # one exception may be a kind of the other
        return not values.agree(self.expected, other.expected)


def told(documented: Documented, qualname: str, exceptions: Collection[str] = ()) -> Told:
    """The checks in what is written about a function; `exceptions` are the module's own exception classes."""
    name, _dot, method = qualname.partition(".")
    subject = Subject(name=name, method=method.rpartition(".")[2], exceptions=frozenset(exceptions))
    known: dict[str, _Known] = {}
    clash = ""
    checks: list[tuple[int, Stated]] = []
    doubts: list[str] = []
    for line, one, written in _all(documented, subject):
        call = values.parsed(one.call) if one.call else None
        if isinstance(call, ast.Call) and not method and not fits(documented.header, call):
            doubts.append(f"Line {line} calls {one.call}, which the parameters of {name} do not allow.")
            continue
        if one.call:
            fact = _Known(line=line, expected=one.expected, raises=one.raises, written=written)
            before = known.setdefault(one.call, fact)
            if before is not fact:
                if before.contradicts(fact) and not clash:
                    both = (
                        f"line {before.line} says that {one.call} {before.told()}, "
                        f"line {line} says that it {fact.told()}."
                    )
                    if written or before.written:
                        clash = f"What is written about {qualname} contradicts itself: {both}"
                    else:  # they run one after the other, so that both may hold
                        doubts.append(f"The examples of {qualname} give two results for one call: {both}")
                continue
        if written and not any(one.body == other.body for _line, other in checks):
            checks.append((line, one))
    return Told(checks=tuple(sorted(checks[:CHECKS], key=lambda item: item[0])), clash=clash, doubts=tuple(doubts))


def _all(documented: Documented, subject: Subject) -> Iterator[tuple[int, Stated, bool]]:
    """Line and statement, and whether a check is to be written for it: `>>>` examples are cases already."""
    text = (documented.docstring or "")[:MOST]
    prose = not (
        documented.header.startswith("async")
        or _LAZY.search(f"{text}\n{documented.header}")
        or _ELSEWHERE.search(text)
        or sections(text).yields
    )
    for number, page in enumerate(documented.pages):
        rows = list(page.rows)
        if documented.docstring is not None and not number:
            for row, one in _doctests(rows, subject):
                yield page.lines[row], one, False
        for one in _found(rows, subject, documented.header, prose=prose, quiet=not _READS.search(text)):
            yield page.lines[one.row], one, True
    if prose and documented.docstring is not None:
        for entry in sections(text).raises:
            call = raising(entry.text, subject)
            if call is not None and entry.name in values.EXCEPTIONS | subject.exceptions:
                below = documented.pages[0].rows[entry.line - 1 :]
                row = entry.line - 1 + next((at for at, row in enumerate(below) if subject.name in row), 0)
                yield documented.pages[0].lines[row], stated(row, call, "", entry.name), True


def _found(rows: Sequence[str], subject: Subject, header: str, *, prose: bool, quiet: bool) -> Iterator[Stated]:
    yield from asserts(rows, subject)
    yield from compared(rows, subject)
    if prose:
        yield from equations(rows, subject)
        yield from cells(rows, subject)
        yield from pairs(rows, subject, header) if quiet else ()


def _doctests(rows: list[str], subject: Subject) -> Iterator[tuple[int, Stated]]:
    """The `>>>` examples that equate a call; all examples are taken out of the rows."""
    try:
        examples = doctest.DocTestParser().get_examples("\n".join(rows))
    except ValueError:
        _without_prompts(rows)
        return
    for example in examples:
        size = example.source.count("\n") + example.want.count("\n")
        rows[example.lineno : example.lineno + size] = [""] * size
        call = plain(values.parsed(example.source), subject)
        if call is None:
            continue
        want = values.parsed(example.want)
        raises = (example.exc_msg or "").partition(":")[0].strip().rpartition(".")[2]
        if raises or (want is not None and values.is_value(want)):
            expected = "" if raises else ast.unparse(want) if want else ""
            yield (
                example.lineno,
                Stated(row=example.lineno, body="", shown="", call=ast.unparse(call), expected=expected, raises=raises),
            )


def _without_prompts(rows: list[str]) -> None:
    """Takes out what begins with `>>>` up to the next blank row, where the examples cannot be read."""
    inside = False
    for number, row in enumerate(rows):
        inside = (inside and bool(row.strip())) or row.lstrip().startswith(">>>")
        rows[number] = "" if inside else row
