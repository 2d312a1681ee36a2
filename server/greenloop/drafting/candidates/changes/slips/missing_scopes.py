"""A `global` or `nonlocal` for a name that a function assigns and reads before, which then is no other one's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, Function, parse_fragment
from greenloop.core.python.parameters import parameter_nodes
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import Change, Kind, change_of, first_statement, insert_before

_UNBOUND = re.compile(
    r"local variable '(\w+)' (?:where it is not associated with a value|referenced before assignment)"
)


def missing_scopes(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields a change for each function that assigns a name of which the failures say that it had no value."""
    messages = [case.failure.message for case in attempt.verdict.cases if case.failure]
    names = list(dict.fromkeys(match[1] for message in messages if (match := _UNBOUND.search(message))))
    parsed = parse_fragment(text) if names else None
    if not isinstance(parsed, Fragment):
        return
    for name in names:
        for function, outer in _functions_in(parsed.body):
            if name not in _assigned_names(function) or name in {each.arg for each in parameter_nodes(function)}:
                continue
            word = "nonlocal" if any(name in _assigned_names(each) for each in outer) else "global"
            if found := first_statement(function, parsed):
                first, indent = found
                yield change_of(parsed, [insert_before(first, f"{word} {name}\n{indent}")], Kind.SLIP)


def _functions_in(
    statements: Iterable[ast.AST], outer: tuple[Function, ...] = ()
) -> Iterator[tuple[Function, tuple[Function, ...]]]:
    """Yields each function with those around it."""
    for node in statements:
        if isinstance(node, FUNCTIONS):
            yield node, outer
        yield from _functions_in(ast.iter_child_nodes(node), (*outer, node) if isinstance(node, FUNCTIONS) else outer)


def _assigned_names(function: Function) -> set[str]:
    """The names that a function assigns, without those of functions in it, and its parameters."""
    found = {each.arg for each in parameter_nodes(function)}
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)
    return found
