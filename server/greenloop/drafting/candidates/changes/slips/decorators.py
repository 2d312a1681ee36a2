"""Decorators that a function lacks for the way in which the tests use it, and caches that its arguments do not fit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from greenloop.core.python.ast_source import FUNCTIONS
from greenloop.core.python.parameters import parameter_nodes
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Edit,
    Kind,
    change_of,
    insert_before,
    parse_function,
    shown_by,
    source_of,
)

_CACHE = re.compile(r"^(?:\w+\.)?(?:lru_cache|cache)\b")
_NO_CONTEXT = re.compile(
    r"'(?:async_)?generator' object does not support the (?:asynchronous )?context manager|^__a?enter__$", re.MULTILINE
)


def decorators(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields the function with `@contextmanager`, without a cache, and with `@functools.wraps` for what it wraps."""
    if (found := parse_function(text)) is None:
        return
    parsed, function = found
    indent = parsed.lines[function.lineno - 1][: function.col_offset]
    no_context = _NO_CONTEXT.search(shown_by(attempt))
    if no_context and not function.decorator_list and any(isinstance(each, ast.Yield) for each in ast.walk(function)):
        name = "asynccontextmanager" if isinstance(function, ast.AsyncFunctionDef) else "contextmanager"
        change = change_of(parsed, [insert_before(function, f"@{name}\n{indent}")], Kind.SLIP)
        yield replace(change, imports=(f"from contextlib import {name}",))
    caches = [each for each in function.decorator_list if _CACHE.search(source_of(each, parsed))]
    if caches and "unhashable type" in shown_by(attempt):
        lines = [Edit(line=each.lineno, end_line=(each.end_lineno or each.lineno) + 1) for each in caches]
        yield change_of(parsed, lines, Kind.SLIP)
    observed = {case.failure.observed for case in attempt.verdict.cases if case.failure}
    parameters = [each.arg for each in parameter_nodes(function)]
    for inner in (each for each in function.body if isinstance(each, FUNCTIONS) and not each.decorator_list):
        called = {getattr(node.func, "id", None) for node in ast.walk(inner) if isinstance(node, ast.Call)}
        wrapped = next((name for name in parameters if name in called), None)
        if wrapped and repr(inner.name) in observed:
            indent = parsed.lines[inner.lineno - 1][: inner.col_offset]
            change = change_of(parsed, [insert_before(inner, f"@functools.wraps({wrapped})\n{indent}")], Kind.SLIP)
            yield replace(change, imports=("import functools",))
