"""Lambdas that are made in a loop, and read its variable when they are called: each keeps its own value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.python.parameters import defaults, parameter_nodes
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import Change, Edit, Kind, change_of, insert_after

_LOOPS = (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def late_binding(text: str, _attempt: Attempt) -> Iterator[Change]:
    """Yields the change that gives all such lambdas of a function the variable as a default."""
    parsed = parse_fragment(text)
    if not isinstance(parsed, Fragment):
        return
    variables: dict[ast.Lambda, set[str]] = {}
    for loop in (node for item in parsed.body for node in ast.walk(item) if isinstance(node, _LOOPS)):
        if isinstance(loop, ast.For | ast.AsyncFor):
            targets = [loop.target]
        else:
            targets = [each.target for each in loop.generators]
        names = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        for node in ast.walk(loop):
            if isinstance(node, ast.Lambda):
                variables.setdefault(node, set()).update(names)
    edits = [edit for node, names in variables.items() if (edit := _with_defaults(node, names))]
    if edits:
        yield change_of(parsed, edits, Kind.SLIP)


def _with_defaults(node: ast.Lambda, names: set[str]) -> Edit | None:
    own = parameter_nodes(node)
    read = dict.fromkeys(each.id for each in ast.walk(node.body) if isinstance(each, ast.Name) and each.id in names)
    wanted = ", ".join(f"{name}={name}" for name in read if name not in {each.arg for each in own})
    if not wanted or node.args.kwonlyargs or node.args.vararg or node.args.kwarg:
        return None
    if own:
        last = defaults(node).get(own[-1].arg)
        return insert_after(last or own[-1], f", {wanted}")
    place = node.col_offset + len("lambda")
    return Edit(line=node.lineno, start=place, end=place, new=f" {wanted}")
