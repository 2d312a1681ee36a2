"""Mutates one assertion of a test by text edits: rewrites it, negates it, or changes the value that it expects.

Each function returns the edits for one statement, or None where it does not apply. Edits keep every line in place.
`source` is the file that the statement was parsed from. Expected exceptions are in `exception_mutants`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from greenloop.core.python.literal_values import read_literal

Edit = tuple[int, int, str]

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
    "assertRegex": "assertNotRegex",
    "assertNotRegex": "assertRegex",
    "assertListEqual": "assertNotEqual",
    "assertTupleEqual": "assertNotEqual",
    "assertDictEqual": "assertNotEqual",
    "assertSetEqual": "assertNotEqual",
    "assertMultiLineEqual": "assertNotEqual",
}
_EQUALITIES = frozenset(name for name, opposite in _OPPOSITE.items() if opposite == "assertNotEqual")
# "Not greater" does not imply "less or equal": sets, NaN, classes with one operator.
_ORDERS = {"assertGreater": ">", "assertGreaterEqual": ">=", "assertLess": "<", "assertLessEqual": "<="}
# Functions of nose, sqlalchemy and pandas that fail where two values are not equal. Not numpy's: to them an empty array
# is equal to any single value.
_EQUALITY_FUNCTIONS = frozenset({"eq_", "assert_frame_equal", "assert_series_equal", "assert_index_equal"})
_MATCHERS = frozenset({"approx", "ANY", "isclose", "assume"})  # compare equal to more than one value
_UNCHANGED = object()


class Source:
    """A source text that maps `ast` positions (lines and UTF-8 columns) to byte offsets."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._data = text.encode()
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.pytest = _pytest_names(tree)
        # A class that defines its own assertion methods may give them another meaning.
        self.redefined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self._data[start:end].decode()

    def word_before(self, node: ast.expr) -> str:
        """Returns the last word or sign before a node."""
        return (self._data[: self.span(node)[0]].decode().rstrip(" \t\r\n\\").split() or [""])[-1]

    def wrap(self, node: ast.expr, before: str, after: str) -> list[Edit]:
        start, end = self.span(node)
        return [(start, start, before), (end, end, after)]

    def replacement(self, node: ast.expr, new: str) -> Edit:
        """Returns the edit that puts `new` in place of a node, padded to as many line ends as the old text has."""
        start, end = self.span(node)
        lost = self._data[start:end].count(b"\n") - new.count("\n")
        return start, end, f"({new}{chr(10) * lost})"

    def apply(self, edits: Sequence[Edit]) -> str:
        data = self._data
        for start, end, new in sorted(edits, reverse=True):
            data = data[:start] + new.encode() + data[end:]
        return data.decode()


# -- assertions -------------------------------------------------------------------------------------------------


def negate_twice(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """Negates the assertion twice, which keeps its meaning."""
    if isinstance(statement, ast.Assert):
        return [*source.wrap(statement.test, "not (not (", "))"), *_remove_message(statement, source)]
    call = _assertion_call(statement, source)
    return None if call is None else source.wrap(call.func, "(", ")")


def negate(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """Negates the assertion."""
    if isinstance(statement, ast.Assert):
        return [*source.wrap(statement.test, "not (", ")"), *_remove_message(statement, source)]
    call = _assertion_call(statement, source)
    if call is None:
        return None
    assert isinstance(call.func, ast.Attribute)
    name = call.func.attr
    if name in _ORDERS:
        left, right = call.args
        return [
            source.replacement(call, f"self.assertFalse(({source.text(left)}) {_ORDERS[name]} ({source.text(right)}))")
        ]
    end = source.span(call.func)[1]
    return [(end - len(name), end, _OPPOSITE[name])]


def change_literal(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """Changes the value that an equality assertion expects."""
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        test = statement.test
        if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
            return None
        edits = _other_value(test.left, test.comparators[0], source)
        return None if edits is None else [*edits, *_remove_message(statement, source)]
    call = _equality_call(statement, source) or _assertion_call(statement, source)
    if call is not None and _called_name(call) in _EQUALITIES | _EQUALITY_FUNCTIONS:
        return _other_value(call.args[0], call.args[1], source) if len(call.args) > 1 else None
    return None


def _assertion_call(statement: ast.stmt, source: Source) -> ast.Call | None:
    """Returns the call of `self.assertEqual(...)` or a similar call that the file does not redefine, else None."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if not (isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self"):
        return None
    name = call.func.attr
    if name in _ORDERS:
        plain = len(call.args) == 2 and not any(isinstance(each, ast.Starred) for each in call.args)
        return call if plain and not source.redefined & {name, "assertFalse"} else None
    return call if name in _OPPOSITE and not source.redefined & {name, _OPPOSITE[name]} else None


def _equality_call(statement: ast.stmt, source: Source) -> ast.Call | None:
    """Returns the call of a known function that compares two values, which the file does not define, else None."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    is_known = _called_name(call) in _EQUALITY_FUNCTIONS - source.redefined
    is_plain = not call.keywords and not any(isinstance(each, ast.Starred) for each in call.args)
    return call if is_known and is_plain else None


def _called_name(call: ast.Call) -> str:
    """The last part of the called function's name: `eq_` of `testing.eq_(a, b)`."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _remove_message(statement: ast.Assert, source: Source) -> list[Edit]:
    """Removes the message: a mutated assertion would compute it, and it might raise something else."""
    return [] if statement.msg is None else [source.replacement(statement.msg, "None")]


def _other_value(left: ast.expr, right: ast.expr, source: Source) -> list[Edit] | None:
    """Changes a literal; where neither side is one, puts an object on the right that equals nothing honest.

    A call on the right alone may equal many values on purpose (a matcher), so it stays unchanged.
    """
    edit = _other_literal(left, right, source)
    if edit is not None:
        return [edit]
    if _is_loose(left) or isinstance(right, ast.Starred | ast.Constant) or (_has_call(right) and not _has_call(left)):
        return None
    return source.wrap(right, "(", ", object())[1]")


def _has_call(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(node))


def _is_loose(node: ast.expr) -> bool:
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    names |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return bool(names & _MATCHERS)


def _other_literal(left: ast.expr, right: ast.expr, source: Source) -> Edit | None:
    for literal, compared in ((right, left), (left, right)):
        if _is_loose(compared):
            continue
        if (value := read_literal(literal)) is None:
            continue
        changed = _change_value(value[0])
        if changed is not _UNCHANGED and changed != value[0]:
            return source.replacement(literal, repr(changed))
    return None


def _change_value(value: Any) -> Any:
    """Returns a value that differs from every honest equal of the literal; `_UNCHANGED` where there is none."""
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


def _pytest_names(tree: ast.Module) -> dict[str, str]:
    """Maps the names that a file binds to pytest, `pytest.raises` and `pytest.warns` to what they stand for."""
    names = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            names.update({each.asname or each.name: "pytest" for each in node.names if each.name == "pytest"})
        elif isinstance(node, ast.ImportFrom) and node.module == "pytest":
            names.update({each.name: each.name for each in node.names if each.asname in (None, each.name)})
    return {name: origin for name, origin in names.items() if origin in {"pytest", "raises", "warns"}}
