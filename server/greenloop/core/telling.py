"""A syntax tree in words, whatever its depth: `ast.dump` gives up where the parser does not."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_SILENT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # told by the place, or telling nothing


def told(body: Sequence[ast.AST], *, constants: bool = True, docstrings: bool = True) -> Iterator[str]:
    """Types, names and constants from the outside in, without positions: equal words, equal code.

    Without `constants` only their types; without `docstrings` none of functions and classes. Not recursive: a long sum
    nests deeper than the interpreter's stack.
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
    return hex(value) if type(value) is int else repr(value)  # decimals of a long int are refused


def _field(node: ast.AST, name: str, *, docstrings: bool) -> object:
    value: object = getattr(node, name, None)
    if docstrings or name != "body" or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return value
    first = node.body[0] if node.body else None
    text = first.value if isinstance(first, ast.Expr) else None
    said = isinstance(text, ast.Constant) and isinstance(text.value, str)
    return (node.body[1:] or [ast.Pass()]) if said else value
