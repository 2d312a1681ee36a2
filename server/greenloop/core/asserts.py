"""Checks that stand in plain text as code: `assert` lines, whole rows that compare, IPython cells, `Input:`/`Output:`.

A statement counts when it can be read, calls the function under test, and uses no name that nobody knows; assignments
above it in the same block come with it where it needs them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from textwrap import dedent

from greenloop.core import sheet, values
from greenloop.core.calls import Subject, arguments, plain
from greenloop.core.equations import Stated, is_governed, stated

ROWS = 8  # of one statement
BLOCK = 30  # rows above it that may belong to it
_STARTS = re.compile(r"[\s\-*\u2022>]*`*(?=(?:assert\b|with\s+(?:pytest\.)?raises\())")
_CELL = re.compile(r"\s*In \[\d+\]: (?P<code>.+)$")
_OUT = re.compile(r"\s*Out\[\d+\]: (?P<value>.+)$")
_BULLET = r"[\s\-*\u2022>]*(?:\d+[.)]\s+)?"
_ROW = re.compile(rf"{_BULLET}(?:\w*\s?examples?:|e\.g\.,?)?[\s`]*(?P<code>\S.*?)[`\s.,;]*$", re.IGNORECASE)
_WHICH = r"(?:sample |example |expected )?"
_INPUT = re.compile(rf"[\s\-*`]*{_WHICH}input\s*\d*\s*[:=]\**\s*(?P<value>.+?)[`\s]*$", re.IGNORECASE)
_OUTPUT = re.compile(rf"[\s\-*`]*{_WHICH}output\s*\d*\s*[:=]\**\s*(?P<value>.+?)[`\s.]*$", re.IGNORECASE)
_BOTH = re.compile(rf"(?P<input>.*?\S)\s*(?:->|=>|,|;|\s)\s*(?P<output>{_WHICH}output\s*:.*)$", re.IGNORECASE)
_RAISES = re.compile(r"\bwith raises\(")
_PLAIN = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Assert)


def asserts(rows: Sequence[str], subject: Subject) -> Iterator[Stated]:
    """Each `assert` and `with pytest.raises(...)` statement of a text."""
    at = 0
    while at < len(rows):
        match = _STARTS.match(rows[at])
        size, code = _statement(rows, at, match.end()) if match else (1, "")
        if code and not is_governed(rows, at) and (found := _checked(rows, at, code, subject)):
            yield found
        at += size


def _statement(rows: Sequence[str], at: int, margin: int) -> tuple[int, str]:
    """How many rows a statement takes that begins at a row, and its source; empty where it cannot be read."""
    taken: list[str] = []
    for row in rows[at : at + ROWS]:
        below = f"    {row}" if not at else row  # the first row of a docstring has lost its margin
        taken.append(row[margin:] if not taken else below[margin:] if not below[:margin].strip() else below.lstrip())
        for code in dict.fromkeys(("\n".join(taken), "\n".join(taken).rstrip("`. "))):
            tree = _tree(code)
            if tree is not None and len(tree.body) == 1:
                return len(taken), code
    return 1, ""


def _tree(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _checked(rows: Sequence[str], at: int, code: str, subject: Subject) -> Stated | None:
    known = {subject.name, *subject.exceptions}
    for body in (code, f"{_above(rows, at)}\n{code}"):
        tree = _tree(body)
        if tree is not None and subject.called_in(tree) and not values.unknown(tree, known):
            return _from_code(at, body.lstrip("\n"), code, subject)
    return None


def _above(rows: Sequence[str], at: int) -> str:
    """Assignments and imports above a row in its block, as source; empty where there are none that can be read."""
    for first in range(max(at - BLOCK, 0), at):
        if not rows[first].strip():
            continue
        tree = _tree(dedent("\n".join(rows[first:at])))
        if tree is not None and tree.body and all(isinstance(node, _PLAIN) for node in tree.body):
            kept = [node for node in tree.body if not isinstance(node, ast.Assert) and _is_plain(node)]
            return "\n".join(ast.unparse(node) for node in kept)
    return ""


def _is_plain(node: ast.stmt) -> bool:
    """Is it no import of something else than the standard library? The function under test is there anyway."""
    if isinstance(node, ast.ImportFrom):
        return not node.level and (node.module or "").partition(".")[0] in sys.stdlib_module_names
    if isinstance(node, ast.Import):
        return all(alias.name.partition(".")[0] in sys.stdlib_module_names for alias in node.names)
    return True


def _from_code(row: int, body: str, shown: str, subject: Subject) -> Stated:
    body, shown = (_RAISES.sub("with pytest.raises(", text) for text in (body, shown))
    equation = sheet.equation(shown)
    call = values.parsed(equation.call) if equation else None
    known = equation if plain(call, subject) else None
    return Stated(
        row=row,
        body=body,
        shown=" ".join(ast.unparse(ast.parse(shown)).split("\n    ")) if "\n" in shown else shown,
        call=ast.unparse(call) if call and known else "",
        expected=known.expected if known else "",
        raises=known.raises if known else "",
        imports=values.imports(ast.parse(body)),
    )


def compared(rows: Sequence[str], subject: Subject) -> Iterator[Stated]:
    """Rows that are a comparison by `==` of more than one call with one value: `len(f(2)) == 3`, `f(2) == f(-2)`."""
    for at, row in enumerate(rows):
        match = _ROW.match(row) if subject.name in row and "==" in row else None
        node = values.parsed(match["code"]) if match else None
        if not isinstance(node, ast.Compare) or len(node.ops) > 1 or not isinstance(node.ops[0], ast.Eq):
            continue
        if plain(node.left, subject) and values.is_value(node.comparators[0]):
            continue  # a plain equation
        if subject.called_in(node) and not values.unknown(node, {subject.name}) and not is_governed(rows, at):
            code = f"assert {ast.unparse(node)}"
            yield _from_code(at, code, code, subject)


def cells(rows: Sequence[str], subject: Subject) -> Iterator[Stated]:
    """`In [1]: f(2)` with `Out[1]: 4` below it."""
    for at, (first, second) in enumerate(pairwise(rows)):
        code, value = _CELL.match(first), _OUT.match(second)
        if code and value:
            yield from _equated(at, values.parsed(code["code"]), value["value"], subject)


def pairs(rows: Sequence[str], subject: Subject, header: str) -> Iterator[Stated]:
    """`Input: 3` with `Output: 9` behind or below it, where it is plain which parameter gets what."""
    args = arguments(header)
    if args is None or args.vararg or args.kwarg or subject.method:
        return
    places = [*args.posonlyargs, *args.args]
    for at, row in enumerate(rows):
        both = _BOTH.match(row)
        given = _INPUT.match(both["input"] if both else row)
        below = next((other for other in rows[at + 1 : at + 3] if other.strip()), "")
        output = _OUTPUT.match(both["output"] if both else below)
        if given is None or output is None or is_governed(rows, at):
            continue
        call = _call_of(given["value"], subject.name, [item.arg for item in places], len(places) - len(args.defaults))
        yield from _equated(at, call, output["value"], subject)


def _call_of(given: str, name: str, places: Sequence[str], needed: int) -> ast.expr | None:
    named = values.parsed(f"{name}({given})")
    if isinstance(named, ast.Call) and named.keywords and not named.args:
        keys = {key.arg for key in named.keywords}
        return named if keys <= set(places) and keys >= set(places[:needed]) else None
    value = values.parsed(given)
    if value is None or needed != 1 or isinstance(value, ast.Tuple):
        return None  # `3, 4` may be two arguments or one tuple
    return values.parsed(f"{name}({given})")


def _equated(row: int, call: ast.expr | None, written: str, subject: Subject) -> Iterator[Stated]:
    value = values.parsed(written)
    if value is None or not values.is_value(value):
        return
    if (found := plain(call, subject)) is not None:
        yield stated(row, found, written, "")
