"""Twins of a test file that no candidate can satisfy by cheating: the same tests with one assertion turned round.

- `equal`: the assertion doubly negated. It must still pass; a failure says that something reads the tests.
- `negated`: the assertion negated. It must fail with an AssertionError in the call phase.
- `literal`: an expected literal changed. It must fail too; this finds objects that are equal to everything.

Only assertions at the top level of a test's body and before any return are touched: a test that passed has executed
them and found them true, so an honest, deterministic candidate is never accused. Edits are textual: every line stays
where it is, and so do the names and ids of the tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from greenloop.core.nouns import CaseResult


class Mode(StrEnum):
    """Which twin."""

    EQUAL = "equal"
    NEGATED = "negated"
    LITERAL = "literal"


@dataclass(frozen=True, kw_only=True)
class Twins:
    """The three texts, and which test functions (`test_a`, `TestC::test_b`) each of them turns round.

    `total` counts the file's test functions; those in none of the lists could not be mutated.
    """

    texts: Mapping[Mode, str]
    mutated: Mapping[Mode, frozenset[str]]
    total: int
    unmutable: tuple[str, ...] = field(default=())


_OPPOSITE = {
    "assertEqual": "assertNotEqual",
    "assertNotEqual": "assertEqual",
    "assertTrue": "assertFalse",
    "assertFalse": "assertTrue",
    "assertIs": "assertIsNot",
    "assertIsNot": "assertIs",
    "assertIsNone": "assertIsNotNone",
    "assertIsNotNone": "assertIsNone",
    "assertIn": "assertNotIn",
    "assertNotIn": "assertIn",
    "assertIsInstance": "assertNotIsInstance",
    "assertNotIsInstance": "assertIsInstance",
    "assertAlmostEqual": "assertNotAlmostEqual",
    "assertNotAlmostEqual": "assertAlmostEqual",
    "assertGreater": "assertLessEqual",
    "assertLessEqual": "assertGreater",
    "assertLess": "assertGreaterEqual",
    "assertGreaterEqual": "assertLess",
    "assertRegex": "assertNotRegex",
    "assertNotRegex": "assertRegex",
    "assertListEqual": "assertNotEqual",
    "assertTupleEqual": "assertNotEqual",
    "assertDictEqual": "assertNotEqual",
    "assertSetEqual": "assertNotEqual",
    "assertMultiLineEqual": "assertNotEqual",
}
_EQUALITIES = frozenset(name for name, opposite in _OPPOSITE.items() if opposite == "assertNotEqual")
_LOOSE = frozenset({"approx", "ANY", "isclose", "assume"})  # what compares equal to more than one value
_UNCHANGED = object()

Edit = tuple[int, int, str]


def twins(source: str) -> Twins:
    """The twins of a test file. A file that cannot be parsed has none: its tests are all `unmutable`."""
    bare = source.removeprefix("\ufeff")
    mark = source[: len(source) - len(bare)]
    try:
        tree = ast.parse(bare)
    except (SyntaxError, ValueError):
        names = tuple(dict.fromkeys(re.findall(r"^\s*(?:async\s+)?def\s+(test\w*)", bare, re.MULTILINE)))
        nothing: dict[Mode, frozenset[str]] = dict.fromkeys(Mode, frozenset())
        return Twins(texts=dict.fromkeys(Mode, source), mutated=nothing, total=len(names), unmutable=names)
    text = _Text(bare)
    edits: dict[Mode, dict[str, list[Edit]]] = {mode: {} for mode in Mode}
    every = dict(_tests(tree, ""))  # of two with one name the later one runs
    for name, function in every.items():
        certain = list(_certain(function.body))
        for mode, change in ((Mode.EQUAL, _doubled), (Mode.NEGATED, _negated), (Mode.LITERAL, _perturbed)):
            found = next(filter(None, (change(statement, text) for statement in certain)), None)
            if found is not None:
                edits[mode][name] = found
    touched = {name for mode in Mode for name in edits[mode]}
    return Twins(
        texts={mode: mark + text.edited([edit for mine in edits[mode].values() for edit in mine]) for mode in Mode},
        mutated={mode: frozenset(edits[mode]) for mode in Mode},
        total=len(every),
        unmutable=tuple(name for name in every if name not in touched),
    )


def violations(mode: Mode, mutated: frozenset[str], results: Sequence[CaseResult]) -> tuple[str, ...]:
    """The cases of a twin's run that did what no honest candidate does.

    `results` are those of cases which pass in the unchanged file; cases of functions not mutated are left out.
    """
    return tuple(result.id for result in results if function_of(result.id) in mutated and not _as_it_must(mode, result))


def function_of(case: str) -> str:
    """`TestC::test_b` of the id `path.py::TestC::test_b[1]`."""
    return case.partition("::")[2].partition("[")[0]


def _as_it_must(mode: Mode, result: CaseResult) -> bool:
    if mode is Mode.EQUAL:
        return result.passed
    return result.outcome == "failed" and result.failure is not None and result.failure.type == "AssertionError"


# -- finding assertions that a passing test has certainly executed ----------------------------------------------


def _tests(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if child.name.startswith("test"):
                yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _tests(child, f"{prefix}{child.name}::")


def _certain(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.Assert | ast.Expr):
            yield statement
        if _may_leave(statement):
            return


def _may_leave(statement: ast.AST) -> bool:
    if isinstance(statement, ast.Return | ast.Yield | ast.YieldFrom):
        return True
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return False
    return any(_may_leave(child) for child in ast.iter_child_nodes(statement))


def _unittest_call(statement: ast.stmt) -> tuple[ast.Call, ast.Attribute] | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
            return statement.value, function
    return None


# -- the three changes ------------------------------------------------------------------------------------------


def _doubled(statement: ast.stmt, text: _Text) -> list[Edit] | None:
    if isinstance(statement, ast.Assert):
        return [*text.around(statement.test, "not (not (", "))"), *_silenced(statement, text)]
    found = _unittest_call(statement)
    if found is not None and found[1].attr in _OPPOSITE:
        return text.around(found[1], "(", ")")
    return None


def _negated(statement: ast.stmt, text: _Text) -> list[Edit] | None:
    if isinstance(statement, ast.Assert):
        return [*text.around(statement.test, "not (", ")"), *_silenced(statement, text)]
    found = _unittest_call(statement)
    if found is not None and found[1].attr in _OPPOSITE:
        start, end = text.span(found[1])
        return [(end - len(found[1].attr), end, _OPPOSITE[found[1].attr])] if end > start else None
    return None


def _perturbed(statement: ast.stmt, text: _Text) -> list[Edit] | None:
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        test = statement.test
        if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
            return None
        edit = _other_literal(test.left, test.comparators[0], text)
        return None if edit is None else [edit, *_silenced(statement, text)]
    found = _unittest_call(statement)
    if found is not None and found[1].attr in _EQUALITIES and len(found[0].args) >= 2:
        edit = _other_literal(found[0].args[0], found[0].args[1], text)
        return None if edit is None else [edit]
    return None


def _silenced(statement: ast.Assert, text: _Text) -> list[Edit]:
    """The message would be computed only now, and might raise something else."""
    if statement.msg is None:
        return []
    start, end = text.span(statement.msg)
    return [(start, end, f"(None{text.line_ends(start, end)})")]


def _other_literal(left: ast.expr, right: ast.expr, text: _Text) -> Edit | None:
    for literal, other in ((right, left), (left, right)):
        names = {node.id for node in ast.walk(other) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(other) if isinstance(node, ast.Attribute)}
        if names & _LOOSE:
            continue
        try:
            value = ast.literal_eval(literal)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        changed = _changed(value)
        if changed is _UNCHANGED or changed == value:
            continue
        start, end = text.span(literal)
        return start, end, f"({changed!r}{text.line_ends(start, end)})"
    return None


def _changed(value: Any) -> Any:
    """A literal that nothing honest equal to the old one is equal to; `_UNCHANGED` where there is none."""
    if value is None or isinstance(value, bool):
        return 7919 if value is None else not value
    if isinstance(value, int | complex):
        return value + 7919
    if isinstance(value, float):
        return value + 7919 if value + 7919 != value else value / 2 + 1
    if isinstance(value, str):
        return value + "\u2063q"
    if isinstance(value, bytes):
        return value + b"\x00q"
    if isinstance(value, list | tuple):
        return type(value)([*value, 7919])
    if isinstance(value, dict):
        return {**value, "\u2063q": 7919}
    if isinstance(value, set):
        return {*value, 7919}
    return _UNCHANGED


class _Text:
    """A source whose `ast` positions (lines and UTF-8 columns) are turned into places in its bytes."""

    def __init__(self, source: str) -> None:
        self._data = source.encode()
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def around(self, node: ast.expr, before: str, after: str) -> list[Edit]:
        start, end = self.span(node)
        return [(start, start, before), (end, end, after)]

    def line_ends(self, start: int, end: int) -> str:
        """As many line ends as the span has, so that what follows stays on its line."""
        return "\n" * self._data[start:end].count(b"\n")

    def edited(self, edits: Sequence[Edit]) -> str:
        data = self._data
        for start, end, new in sorted(edits, reverse=True):
            data = data[:start] + new.encode() + data[end:]
        return data.decode()
