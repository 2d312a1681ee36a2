"""One assertion of a test written in another way, negated, or with another expectation: edits of its text.

Each function gives the edits for one statement, or None where it has nothing to say about it. Edits keep every line
where it is. `source` is what the statement was parsed from.

A statement that expects an exception is turned round from outside: around a satisfied `raises(X)` stands one more that
expects an exception which nobody can raise, and says so.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from greenloop.verdict.executed_statements import is_transparent

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
# What is not greater need not be less or equal: sets, NaN, classes with one operator.
_ORDERS = {"assertGreater": ">", "assertGreaterEqual": ">=", "assertLess": "<", "assertLessEqual": "<="}
# Who expects an exception or a warning, by how many arguments come before the callable.
_EXPECTING = {
    "raises": 1,
    "warns": 1,
    "assertRaises": 1,
    "assertRaisesRegex": 2,
    "assertWarns": 1,
    "assertWarnsRegex": 2,
}
_OUTER = {"assertRaisesRegex": "assertRaises", "assertWarnsRegex": "assertWarns"}
_LOOSE = frozenset({"approx", "ANY", "isclose", "assume"})  # what compares equal to more than one value
_UNCHANGED = object()


class Source:
    """A text whose `ast` positions (lines and UTF-8 columns) are turned into places in its bytes."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._data = text.encode()
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.pytest = _pytest_names(tree)
        # A class with assertions of its own may mean something else by them.
        self.redefined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}

    def span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr) -> str:
        start, end = self.span(node)
        return self._data[start:end].decode()

    def before(self, node: ast.expr) -> str:
        """The last word or sign before a node."""
        return (self._data[: self.span(node)[0]].decode().rstrip(" \t\r\n\\").split() or [""])[-1]

    def around(self, node: ast.expr, before: str, after: str) -> list[Edit]:
        start, end = self.span(node)
        return [(start, start, before), (end, end, after)]

    def replaced(self, node: ast.expr, new: str) -> Edit:
        """The new text, with as many line ends as the old one had."""
        start, end = self.span(node)
        lost = self._data[start:end].count(b"\n") - new.count("\n")
        return start, end, f"({new}{chr(10) * lost})"

    def edited(self, edits: Sequence[Edit]) -> str:
        data = self._data
        for start, end, new in sorted(edits, reverse=True):
            data = data[:start] + new.encode() + data[end:]
        return data.decode()


# -- assertions -------------------------------------------------------------------------------------------------


def negate_twice(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """The same assertion, doubly negated."""
    if isinstance(statement, ast.Assert):
        return [*source.around(statement.test, "not (not (", "))"), *_remove_message(statement, source)]
    found = _unittest(statement, source)
    return None if found is None else source.around(found.func, "(", ")")


def negate(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """The opposite assertion."""
    if isinstance(statement, ast.Assert):
        return [*source.around(statement.test, "not (", ")"), *_remove_message(statement, source)]
    found = _unittest(statement, source)
    if found is None:
        return None
    assert isinstance(found.func, ast.Attribute)
    name = found.func.attr
    if name in _ORDERS:
        left, right = found.args
        return [
            source.replaced(found, f"self.assertFalse(({source.text(left)}) {_ORDERS[name]} ({source.text(right)}))")
        ]
    end = source.span(found.func)[1]
    return [(end - len(name), end, _OPPOSITE[name])]


def change_literal(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """The assertion with what it expects to be equal changed."""
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        test = statement.test
        if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
            return None
        edits = _other_value(test.left, test.comparators[0], source)
        return None if edits is None else [*edits, *_remove_message(statement, source)]
    found = _unittest(statement, source)
    if found is not None and isinstance(found.func, ast.Attribute) and found.func.attr in _EQUALITIES:
        return _other_value(found.args[0], found.args[1], source) if len(found.args) > 1 else None
    return None


def _unittest(statement: ast.stmt, source: Source) -> ast.Call | None:
    """`self.assertEqual(...)` and the like, where this file does not define it anew."""
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


def _remove_message(statement: ast.Assert, source: Source) -> list[Edit]:
    """The message would be computed only now, and might raise something else."""
    return [] if statement.msg is None else [source.replaced(statement.msg, "None")]


def _other_value(left: ast.expr, right: ast.expr, source: Source) -> list[Edit] | None:
    """Another literal; where neither side is one, on the right an object that nothing honest is equal to.

    A call on the right alone may be what is equal to many things on purpose (matchers), so that is left as it is.
    """
    edit = _other_literal(left, right, source)
    if edit is not None:
        return [edit]
    if _loose(left) or isinstance(right, ast.Starred | ast.Constant) or (_calls(right) and not _calls(left)):
        return None
    return source.around(right, "(", ", object())[1]")


def _calls(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(node))


def _loose(node: ast.expr) -> bool:
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    names |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return bool(names & _LOOSE)


def _other_literal(left: ast.expr, right: ast.expr, source: Source) -> Edit | None:
    for literal, other in ((right, left), (left, right)):
        if _loose(other):
            continue
        try:
            value = ast.literal_eval(literal)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        changed = _change_value(value)
        if changed is not _UNCHANGED and changed != value:
            return source.replaced(literal, repr(changed))
    return None


def _change_value(value: Any) -> Any:
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


# -- expected exceptions and warnings ---------------------------------------------------------------------------


def rewrite_raises(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """The same expectation, its class handed over in another way."""
    call = _block(statement, source) or _call(statement, source)
    return None if call is None else source.around(call.args[0], "*(", ",)")


def suppress_raises(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """Fails when the expectation is met: something else was expected around it."""
    call = _block(statement, source)
    if call is not None:
        start = source.span(call)[0]
        return [(start, start, f"{_unrelated(call, source)}), ")]
    call = _call(statement, source)
    return None if call is None else source.around(call, f"{_unrelated(call, source)}, lambda: ", ")")


def change_exception(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """The expectation is another one, which nothing meets; the old one stands around it, and `unmet` around both."""
    call = _block(statement, source)
    if call is None or "aises" not in _name(call):
        return None
    start, end = source.span(call)
    return [(start, start, f"{_unrelated(call, source)}), "), (end, end, f", {_unrelated(call, source)})")]


def _unrelated(call: ast.Call, source: Source) -> str:
    """`raises(<a class of its own>`, not closed."""
    name = _name(call)
    base = "Warning" if "arns" in name else "BaseException"
    callee = source.text(call.func).removesuffix(name) + _OUTER.get(name, name)
    if isinstance(call.func, ast.Name):
        callee = call.func.id
    return f'{callee}(type("Unrelated", ({base},), {{}})'


def _block(statement: ast.stmt, source: Source) -> ast.Call | None:
    """The call of `with pytest.raises(X):`, where what is raised around its block comes out of the test."""
    if not isinstance(statement, ast.With):
        return None
    for item in statement.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and _expects(call, source):
            alone = len(call.args) <= _EXPECTING[_name(call)] and source.before(call).endswith(("with", ","))
            return call if alone and call.args else None
        if not is_transparent(item):
            return None
    return None


def _call(statement: ast.stmt, source: Source) -> ast.Call | None:
    """The call of `pytest.raises(X, f, 1)`."""
    if not isinstance(statement, ast.Expr | ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if not _expects(call, source) or len(call.args) <= _EXPECTING[_name(call)]:
        return None
    bound = any(isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for node in ast.walk(call))
    return None if bound or "super()" in ast.unparse(call) else call


def _expects(call: ast.Call, source: Source) -> bool:
    if not call.args or isinstance(call.args[0], ast.Starred):
        return False
    if isinstance(call.func, ast.Name):
        return (
            source.pytest.get(call.func.id) == _name(call) in {"raises", "warns"}
            and _name(call) not in source.redefined
        )
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return False
    owner, name = call.func.value.id, call.func.attr
    if owner == "self":
        return (
            name.startswith("assert") and name in _EXPECTING and not source.redefined & {name, _OUTER.get(name, name)}
        )
    return name in {"raises", "warns"} and source.pytest.get(owner) == "pytest"


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _pytest_names(tree: ast.Module) -> dict[str, str]:
    """Names under which a file has pytest, its `raises` and its `warns`, by what they stand for."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            found.update({each.asname or each.name: "pytest" for each in node.names if each.name == "pytest"})
        elif isinstance(node, ast.ImportFrom) and node.module == "pytest":
            found.update({each.name: each.name for each in node.names if each.asname in (None, each.name)})
    return {name: what for name, what in found.items() if what in {"pytest", "raises", "warns"}}
