"""Mutates an expected exception or warning by text edits of `raises`, `warns` and their unittest counterparts.

Each function returns the edits for one statement, or None where it does not apply. Edits keep every line in place.
The expectation is mutated from outside: a satisfied `raises(X)` is wrapped in another one that expects an exception
that nothing can raise, so it reports that exception as missing.
"""

from __future__ import annotations

import ast

from greenloop.verdict.assertion_mutants import Edit, Source
from greenloop.verdict.executed_statements import is_transparent

# Functions that expect an exception or a warning, with the number of arguments before the callable.
_EXPECTING = {
    "raises": 1,
    "warns": 1,
    "assertRaises": 1,
    "assertRaisesRegex": 2,
    "assertWarns": 1,
    "assertWarnsRegex": 2,
}
# The wrapper takes no pattern.
_OUTER = {"assertRaisesRegex": "assertRaises", "assertWarnsRegex": "assertWarns"}


def rewrite_raises(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """Passes the expected class in another way, which keeps the meaning."""
    call = _with_call(statement, source) or _direct_call(statement, source)
    return None if call is None else source.wrap(call.args[0], "*(", ",)")


def suppress_raises(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """Wraps the expectation in an unrelated one, so that the test fails when the original is met."""
    call = _with_call(statement, source)
    if call is not None:
        start = source.span(call)[0]
        return [(start, start, f"{_unrelated(call, source)}), ")]
    call = _direct_call(statement, source)
    return None if call is None else source.wrap(call, f"{_unrelated(call, source)}, lambda: ", ")")


def change_exception(statement: ast.stmt, source: Source) -> list[Edit] | None:
    """Replaces the expectation by one that nothing meets, inside the old one, and wraps both in another unmet one."""
    call = _with_call(statement, source)
    if call is None or "aises" not in _name(call):
        return None
    start, end = source.span(call)
    return [(start, start, f"{_unrelated(call, source)}), "), (end, end, f", {_unrelated(call, source)})")]


def _unrelated(call: ast.Call, source: Source) -> str:
    """Returns the text `raises(<new class>`, without the closing parenthesis."""
    name = _name(call)
    base = "Warning" if "arns" in name else "BaseException"
    callee = source.text(call.func).removesuffix(name) + _OUTER.get(name, name)
    if isinstance(call.func, ast.Name):
        callee = call.func.id
    return f'{callee}(type("Unrelated", ({base},), {{}})'


def _with_call(statement: ast.stmt, source: Source) -> ast.Call | None:
    """Returns the call in `with pytest.raises(X):` if an exception around its block leaves the test, else None."""
    if not isinstance(statement, ast.With):
        return None
    for item in statement.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and _expects(call, source):
            alone = len(call.args) <= _EXPECTING[_name(call)] and source.word_before(call).endswith(("with", ","))
            return call if alone and call.args else None
        if not is_transparent(item):
            return None
    return None


def _direct_call(statement: ast.stmt, source: Source) -> ast.Call | None:
    """Returns the call `pytest.raises(X, f, 1)` of a statement, else None."""
    if not isinstance(statement, ast.Expr | ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if not _expects(call, source) or len(call.args) <= _EXPECTING[_name(call)]:
        return None
    unmovable = any(isinstance(node, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for node in ast.walk(call))
    return None if unmovable or "super()" in ast.unparse(call) else call


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
