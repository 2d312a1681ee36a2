"""Leaves out parts of code that a report has no room for, never inside a token, a literal or a docstring.

It must not know how much room there is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, docstring_statement, parse_fragment, start_line
from greenloop.core.python.indentation import indentation_of

LONGEST_DOCSTRING = 12  # lines of one that is shown whole
LONGEST_TABLE = 40  # lines of a decorator that is shown whole
KEPT_ITEMS = 4  # of a longer table
LONGEST_FUNCTION, LONGEST_OTHER = 150, 50  # lines of a function that is shown whole: a suspicious one, another one
AROUND = 1 / 6  # of the longest length: lines before and after the lines that matter, of a longer one


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """Lines `start`..`end` (from 1) that a `note` replaces."""

    start: int
    end: int
    note: str


def without_long_docstrings(code: str) -> str:
    """The code with docstrings of many lines reduced to their first line."""
    parsed = parse_fragment(code)
    if not isinstance(parsed, Fragment):
        return code
    nodes = [node for item in parsed.body for node in ast.walk(item)]
    cuts = [
        cut
        for node in nodes
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and (cut := _docstring_cut(node, parsed, code))
    ]
    return _apply(code, cuts)


def _docstring_cut(node: ast.AST, parsed: Fragment, code: str) -> _Cut | None:
    statement = docstring_statement(node)
    if statement is None or statement.end_lineno is None:
        return None
    first, last = statement.lineno - parsed.shift, statement.end_lineno - parsed.shift
    if last - first < LONGEST_DOCSTRING:
        return None
    value = statement.value if isinstance(statement, ast.Expr) else None
    text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
    summary = next((line.strip() for line in text.split("\n") if line.strip()), "")
    summary = summary.replace("\\", "\\\\").replace('"""', "'''")
    summary = f'{summary[:-1]}\\"' if summary.endswith('"') else summary
    margin = indentation_of(code.split("\n")[first - 1])
    return _Cut(start=first, end=last, note=f'{margin}"""{summary}"""  # {last - first} more lines of docstring')


def without_other_cases(code: str, case_id: str) -> str:
    """The code of a test without most of a long table of parameters; what a case's own id names is kept."""
    parsed = parse_fragment(code)
    if not isinstance(parsed, Fragment):
        return code
    marks = [
        mark
        for node in parsed.body
        for function in ast.walk(node)
        if isinstance(function, (*FUNCTIONS, ast.ClassDef))
        for mark in function.decorator_list
        if isinstance(mark, ast.Call) and (mark.end_lineno or mark.lineno) - mark.lineno >= LONGEST_TABLE
    ]
    words = {word for word in re.findall(r"\w+", case_id.partition("[")[2]) if len(word) > 1}
    tables = [
        argument for mark in marks for argument in mark.args if isinstance(argument, ast.List | ast.Tuple | ast.Set)
    ]
    return _apply(code, [cut for table in tables for cut in _table_cuts(table, words, parsed, code)])


def _table_cuts(table: ast.List | ast.Tuple | ast.Set, words: set[str], parsed: Fragment, code: str) -> list[_Cut]:
    items = [(item.lineno - parsed.shift, (item.end_lineno or item.lineno) - parsed.shift) for item in table.elts]
    rows = code.split("\n")

    def likeness(number: int) -> int:
        return len(words & set(re.findall(r"\w+", "\n".join(rows[items[number][0] - 1 : items[number][1]]))))

    ranked = sorted(range(len(items)), key=lambda number: (-likeness(number), number))
    kept = set(ranked[:KEPT_ITEMS])
    margin = indentation_of(rows[items[0][0] - 1]) if items else ""
    left_out: list[tuple[int, int]] = []
    for number, (first, last) in enumerate(items):
        shares_line = any(
            other != number and items[other][0] <= last and first <= items[other][1] for other in range(len(items))
        )
        stands_alone = table.lineno - parsed.shift < first and last < (table.end_lineno or 0) - parsed.shift
        if number not in kept and stands_alone and not shares_line:
            left_out.append((first, last))
    return [_Cut(start=first, end=last, note=f"{margin}# … other cases") for first, last in _join(left_out)]


def _join(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans of lines, in order; those that follow one another are one."""
    result: list[tuple[int, int]] = []
    for first, last in spans:
        if result and result[-1][1] == first - 1:
            first, _last = result.pop()  # noqa: PLW2901 - the span goes on
        result.append((first, last))
    return result


def around_lines(code: str, lines: Sequence[int], longest: int = LONGEST_FUNCTION) -> str:
    """A function of more than `longest` lines as its head and the statements around these (from 1, of the code)."""
    around = int(AROUND * longest)
    rows = code.rstrip("\n").split("\n")
    parsed = parse_fragment(code)
    if len(rows) <= longest or not isinstance(parsed, Fragment) or not parsed.body:
        return code
    node = parsed.body[0]
    function = next((each for each in ast.walk(node) if isinstance(each, FUNCTIONS)), None)
    if function is None:
        return code
    kept = {*range(1, start_line(function.body[0], parsed.lines) - parsed.shift)}
    for line in lines or (1,):
        kept |= {*range(max(1, line - around), min(len(rows), line + around) + 1)}
    for first, last in _units(function, parsed):
        if not kept.isdisjoint(range(first, last + 1)):
            kept |= {*range(first, last + 1)}
    left_out = _join((number, number) for number in range(1, len(rows) + 1) if number not in kept)
    notes = (f"{indentation_of(rows[first - 1])}# … {last - first + 1} lines" for first, last in left_out)
    return _apply(
        code,
        [_Cut(start=first, end=last, note=note) for (first, last), note in zip(left_out, notes, strict=True)],
    )


def _units(function: ast.AST, parsed: Fragment) -> Iterator[tuple[int, int]]:
    """The lines of each simple statement and each header, which are kept whole or not at all."""
    for node in ast.walk(function):
        if isinstance(node, ast.match_case):
            first, last = node.pattern.lineno, node.body[0].lineno - 1
        elif isinstance(node, ast.stmt | ast.ExceptHandler):
            first = start_line(node, parsed.lines) if isinstance(node, ast.stmt) else node.lineno
            last = min(map(_first_line, [*getattr(node, "body", ()), *getattr(node, "cases", ())]), default=0) - 1
            last = last if last > 0 else node.end_lineno or first
        else:
            continue
        yield first - parsed.shift, max(first, last) - parsed.shift


def _first_line(node: ast.stmt | ast.match_case) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    marks: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(mark.lineno for mark in marks)])


def _apply(code: str, cuts: Sequence[_Cut]) -> str:
    rows = code.split("\n")
    for cut in sorted(cuts, key=lambda cut: -cut.start):
        rows[cut.start - 1 : cut.end] = [cut.note]
    return "\n".join(rows)


def head_and_tail(text: str, most: int) -> str:
    """The first and last lines of a text of too many lines, with the number of those between."""
    rows = text.rstrip("\n").split("\n")
    if len(rows) <= most:
        return "\n".join(rows)
    head = most * 2 // 3
    tail = most - head
    return "\n".join([*rows[:head], f"… {len(rows) - most} lines …", *rows[-tail:]])
