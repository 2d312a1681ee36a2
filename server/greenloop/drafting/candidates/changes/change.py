"""A change of a function or an assignment that needs no model: edits of its text, so that layout and comments stay."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import Protocol

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, Function, docstring_statement, parse_fragment
from greenloop.core.python.indentation import indentation_unit
from greenloop.core.python.names import defined_names
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region


class ChangeKind(StrEnum):
    """Reason for a change, which decides when it is tried.

    `SLIP`: a failure, or the code alone, points to it. `SYNTAX`: it lets the code be parsed. `SYMBOL`, `NAME`:
    another symbol, or name, might be meant. `DELETION`: a statement less.
    """

    SLIP = "slip"
    SYNTAX = "syntax"
    SYMBOL = "symbol"
    NAME = "name"
    DELETION = "deletion"


@dataclass(frozen=True, kw_only=True)
class Change:
    """A region's whole text after the change, of which `line` is the first that differs.

    `imports` are the statements that it needs, of which the file may have some.
    """

    line: int
    text: str
    kind: ChangeKind
    imports: tuple[str, ...] = ()


class ChangeMaker(Protocol):
    """Changes to which a failure points; a module that an entry point of the group `greenloop.change_makers` names."""

    def change_text(self, text: str, attempt: Attempt) -> Iterator[Change]:
        """Yields changes of a region's text."""
        ...

    def change_files(self, problem: Problem, region: Region, attempt: Attempt) -> Iterator[Candidate]:
        """Yields candidates that other code of the file, or of another module, decides; for the user's code alone."""
        ...


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Replacement of a fragment's text from a line and byte to another; no `end_line`: in the same line."""

    line: int
    start: int = 0
    end: int = 0
    new: str = ""
    end_line: int | None = None


def parse_function(text: str) -> tuple[Fragment, Function] | None:
    """The fragment, and the function that it is; None where it is something else, or cannot be parsed."""
    parsed = parse_fragment(text)
    functions = [each for each in parsed.body if isinstance(each, FUNCTIONS)] if isinstance(parsed, Fragment) else []
    return (parsed, functions[0]) if isinstance(parsed, Fragment) and functions else None


def first_statement(function: Function, fragment: Fragment) -> tuple[ast.stmt, str] | None:
    """The first statement but the docstring, with its indentation; None where it has no line of its own."""
    first = next((each for each in function.body if each is not docstring_statement(function)), None)
    indent = fragment.lines[first.lineno - 1][: first.col_offset] if first else ""
    return (first, indent) if first and not indent.strip() else None


def replace_node(node: ast.expr | ast.stmt, new: str) -> Edit:
    start, end = node.col_offset, node.end_col_offset or node.col_offset
    return Edit(line=node.lineno, start=start, end_line=node.end_lineno, end=end, new=new)


def insert_before(node: ast.expr | ast.stmt, new: str) -> Edit:
    return Edit(line=node.lineno, start=node.col_offset, end=node.col_offset, new=new)


def insert_after(node: ast.expr | ast.stmt | ast.arg, new: str) -> Edit:
    end = node.end_col_offset or node.col_offset
    return Edit(line=node.end_lineno or node.lineno, start=end, end=end, new=new)


def change_of(fragment: Fragment, edits: Iterable[Edit], kind: ChangeKind, *imports: str) -> Change:
    """The fragment's text with all of these edits, none of which overlap."""
    rows = [f"{line}\n".encode() for line in fragment.lines]
    starts = [0, *accumulate(map(len, rows))]
    text = b"".join(rows)
    in_order = sorted(edits, key=lambda edit: (edit.line, edit.start))
    for edit in reversed(in_order):
        start, end = starts[edit.line - 1] + edit.start, starts[(edit.end_line or edit.line) - 1] + edit.end
        text = text[:start] + edit.new.encode() + text[end:]
    first = in_order[0].line - fragment.shift
    return Change(line=first, text=text[starts[fragment.shift] : -1].decode(), kind=kind, imports=imports)


# -- laying one candidate over another --------------------------------------------------------------------------------


def merge(first: Candidate, second: Candidate, base: Candidate | None = None) -> Candidate | None:
    """The candidate with the functions that either changed; None where both changed one, or one has all of the other's.

    `base` is the candidate that both were made from, where that is not the user's code.
    """
    texts = dict(first.texts)
    for region, text in second.texts.items():
        own = base.texts.get(region) if base else None
        if region not in texts and any(region.overlaps(other) for other in texts):
            return None
        if texts.get(region) not in (None, own, text) and text != own:
            return None
        if text != own or region not in texts:
            texts[region] = text
    if texts in (dict(first.texts), dict(second.texts)):
        return None
    return Candidate(
        texts=texts,
        imports=tuple(dict.fromkeys((*first.imports, *second.imports))),
        helpers=tuple(dict.fromkeys((*first.helpers, *second.helpers))),
        originals={**first.originals, **second.originals},
    )


def lay_over(lower: Candidate, upper: Candidate) -> Candidate:
    """The candidate with all of `upper`, and what `lower` has besides its regions; new helpers replace old ones."""
    kept_texts = {
        region: text
        for region, text in lower.texts.items()
        if region not in upper.texts and not any(region.overlaps(each) for each in upper.texts)
    }
    replaced = {name for text in upper.helpers for name in defined_names(text)}
    kept = [text for text in lower.helpers if not replaced & defined_names(text)]
    return Candidate(
        texts=kept_texts | dict(upper.texts),
        imports=tuple(dict.fromkeys((*lower.imports, *upper.imports))),
        helpers=(*kept, *upper.helpers),
        originals={**lower.originals, **upper.originals},
    )


QUOTES = ('"', "'")
CLOSING = (")", "]", "}", ":", ",")  # they follow what they end without a space
DELETED = frozenset("()[]{}:,\"'")
LONGEST = 200  # characters of a line at whose places something is tried


def syntax_repairs(text: str, error: SyntaxError) -> Iterator[tuple[int, str]]:
    """Texts that parse, each with the line that differs; one of those that mean the same. `error` is of the text."""
    rows = text.split("\n")
    last = min(max(error.lineno or 1, 1), len(rows))
    before = next((number for number in range(last - 1, 0, -1) if rows[number - 1].strip()), last)
    yielded: set[str] = set()
    for number in dict.fromkeys((last, before)):
        for row in _changed_rows(rows, number):
            changed = "\n".join([*rows[: number - 1], row, *rows[number:]])
            parsed = parse_fragment(changed)
            if isinstance(parsed, Fragment) and (meaning := "".join(map(ast.dump, parsed.body))) not in yielded:
                yielded.add(meaning)
                yield number, changed


def _changed_rows(rows: Sequence[str], number: int) -> Iterator[str]:
    """The row with each change, from its end to its beginning: what was forgotten is mostly forgotten there."""
    row = rows[number - 1]
    body = row.lstrip(" \t")
    start = len(row) - len(body)
    places = range(min(len(row.rstrip()), LONGEST), start, -1)
    for place in places:
        inserted = QUOTES if row[place - 1].isspace() else (*CLOSING, *QUOTES)
        yield from (row[:place] + each + row[place:] for each in inserted)
    for place in places:
        if row[place - 1] in DELETED:
            yield row[: place - 1] + row[place:]
        if row[place - 1] == "=":
            yield f"{row[:place]}={row[place:]}"
    unit = indentation_unit("\n".join(rows))
    neighbours = [each for each in (*rows[number - 2 : number - 1], *rows[number : number + 1]) if each.strip()]
    margins = [each[: len(each) - len(each.lstrip(" \t"))] for each in neighbours]
    yield from (margin + body for each in margins for margin in (each, each + unit, each.removesuffix(unit)))
