"""Exceptions of another type than the tests expect: raised, or not caught."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from greenloop.core.python.ast_source import Fragment
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Edit,
    Kind,
    change_of,
    parse_function,
    replace_node,
    source_of,
)

# What is tried where the failure does not show what the tests expect: they tell one from another.
COMMON = (
    *("ValueError", "TypeError", "KeyError", "IndexError", "LookupError", "AttributeError", "RuntimeError"),
    *("NotImplementedError", "ZeroDivisionError", "OverflowError", "StopIteration", "FileNotFoundError", "OSError"),
)
_EXPECTED = re.compile(r"\braises\(\s*(\w+)\s*[,)]|\bassertRaises(?:Regex)?\(\s*(\w+)\s*[,)]")


def exception_types(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields a change for each `raise` of what the tests did not expect, and each handler that let it pass."""
    failures = [case.failure for case in attempt.verdict.cases if case.failure]
    raised = dict.fromkeys(each.type.rpartition(".")[2] for each in failures if each.type != "AssertionError")
    found = parse_function(text) if raised else None
    if found is None:
        return
    parsed, function = found
    names = [name for each in failures for pair in _EXPECTED.findall(each.text) for name in pair if name]
    wanted = [name for name in dict.fromkeys((*names, *COMMON)) if _is_exception(name) and name not in raised]
    for node in (each for item in function.body for each in ast.walk(item)):
        if isinstance(node, ast.Raise) and (kind := _type_raised(node)) is not None:
            if source_of(kind, parsed).rpartition(".")[2] in raised:
                yield from (_with(parsed, replace_node(kind, name)) for name in wanted)
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            source = source_of(node.type, parsed)
            listed = source[1:-1].rstrip(", ") if isinstance(node.type, ast.Tuple) else source
            for name in filter(_is_exception, raised):
                yield _with(parsed, replace_node(node.type, name))
                yield _with(parsed, replace_node(node.type, f"({listed}, {name})"))


def _type_raised(node: ast.Raise) -> ast.expr | None:
    return node.exc.func if isinstance(node.exc, ast.Call) else node.exc


def _is_exception(name: str) -> bool:
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, Exception)


def _with(parsed: Fragment, edit: Edit) -> Change:
    return change_of(parsed, [edit], Kind.SLIP)
