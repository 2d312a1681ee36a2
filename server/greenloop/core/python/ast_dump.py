"""Dumps syntax trees of any depth as words; `ast.dump` fails on trees that the parser still reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_SILENT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # implied by the position, or without meaning


def dump_words(body: Sequence[ast.AST], *, constants: bool = True, docstrings: bool = True) -> Iterator[str]:
    """Yields types, names and constants from the outside in, without positions: equal words, equal code.

    Without `constants`, only the types of constants; without `docstrings`, no docstrings of functions and classes.
    Not recursive: a long sum nests deeper than the interpreter's stack.
    """
    waiting: list[object] = [list(body)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            yield f"[{len(item)}"
            waiting += reversed(item)
        elif isinstance(item, ast.Constant):
            yield f"={_plain(item.value)}" if constants else type(item.value).__name__
        elif isinstance(item, ast.AST):
            yield type(item).__name__
            fields = [_field(item, name, docstrings=docstrings) for name in item._fields if name not in _SILENT]
            waiting += reversed(fields)
        else:
            yield _plain(item)


def _plain(value: object) -> str:
    return hex(value) if type(value) is int else repr(value)  # Python refuses to write a very long int in decimal


def _field(node: ast.AST, name: str, *, docstrings: bool) -> object:
    value: object = getattr(node, name, None)
    if docstrings or name != "body" or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return value
    statement = node.body[0] if node.body else None
    expression = statement.value if isinstance(statement, ast.Expr) else None
    is_docstring = isinstance(expression, ast.Constant) and isinstance(expression.value, str)
    return (node.body[1:] or [ast.Pass()]) if is_docstring else value
