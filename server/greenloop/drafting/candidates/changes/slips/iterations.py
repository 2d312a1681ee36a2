"""Loops over what they change, and iterators that are read more than once: a list in their place."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Edit,
    Kind,
    change_of,
    insert_after,
    insert_before,
    parse_function,
    shown_by,
)

CHANGING = {"remove", "pop", "append", "insert", "extend", "clear", "add", "discard", "popitem", "update"}
VIEWS = {"keys", "values", "items"}
ITERATORS = {"map", "filter", "zip", "reversed", "enumerate", "iter"}
_CHANGED = re.compile(r"changed (?:size|keys) during iteration|mutated during iteration")
_NOT_A_LIST = re.compile(
    r"type '(?:map|filter|zip|generator|enumerate|\w*reverseiterator|\w*_iterator)' has no len\(\)"
    r"|'(?:map|filter|zip|generator|enumerate|dict_\w+|\w*iterator)' object is not (?:subscriptable|reversible)"
    r"|'(?:map|filter|zip|generator|enumerate|dict_\w+|\w*iterator)' object has no attribute"
)


def iterations(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields the change of all such places of a function at once, by the kind of place."""
    if (found := parse_function(text)) is None:
        return
    parsed, function = found
    shown = shown_by(attempt)
    nodes = [each for item in function.body for each in ast.walk(item)]
    loops = [node for node in nodes if isinstance(node, ast.For)]
    changed = [each.iter for each in loops if _CHANGED.search(shown) or _is_changed(each)]
    arguments = {each for node in nodes if isinstance(node, ast.Call) for each in node.args}
    iterators = [node for node in nodes if isinstance(node, ast.expr) and _is_iterator(node)]
    iterators = [each for each in iterators if not isinstance(each, ast.GeneratorExp) or each not in arguments]
    for places in (changed, iterators if _NOT_A_LIST.search(shown) else _read_again(nodes)):
        if edits := [edit for each in places for edit in _as_list(each)]:
            yield change_of(parsed, edits, Kind.SLIP)


def _is_changed(loop: ast.For) -> bool:
    """Whether the body of a loop over a name or attribute changes the object that this means."""
    looped = ast.dump(loop.iter)
    if not isinstance(loop.iter, ast.Name | ast.Attribute):
        return False
    for node in (each for item in loop.body for each in ast.walk(item)):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in CHANGING:
                pass
            case ast.Delete(targets=[ast.Subscript(value=owner)]):
                pass
            case _:
                continue
        if ast.dump(owner) == looped:
            return True
    return False


def _is_iterator(node: ast.expr) -> bool:
    match node:
        case ast.GeneratorExp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in ITERATORS
        case ast.Call(func=ast.Attribute(attr=name), args=[]):
            return name in VIEWS
    return False


def _read_again(nodes: list[ast.AST]) -> list[ast.expr]:
    """The iterators that are given a name which is read at several places."""
    reads = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    found = []
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if reads[name] > 1 and _is_iterator(value):
                found.append(value)
    return found


def _as_list(node: ast.expr) -> list[Edit]:
    if isinstance(node, ast.GeneratorExp):  # the brackets are its own
        end, last = node.end_lineno or node.lineno, node.end_col_offset or 0
        return [
            Edit(line=node.lineno, start=node.col_offset, end=node.col_offset + 1, new="["),
            Edit(line=end, start=last - 1, end=last, new="]"),
        ]
    return [insert_before(node, "list("), insert_after(node, ")")]
