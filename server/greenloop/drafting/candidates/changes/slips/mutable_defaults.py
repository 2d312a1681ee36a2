"""Defaults that all calls share (`items=[]`, `now=time.time()`), made anew for each call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.core.python.parameters import defaults, parameter_nodes
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Kind,
    change_of,
    first_statement,
    insert_before,
    parse_function,
    replace_node,
    source_of,
)

CONSTANT_CALLS = {
    *("bool", "int", "float", "complex", "str", "bytes", "tuple", "frozenset", "range", "object", "type", "len", "min"),
    *("max", "abs", "Path", "Decimal", "Fraction", "timedelta", "compile", "getenv", "TypeVar", "namedtuple"),
}
MUTABLE_CALLS = ("list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict", "bytearray")


def mutable_defaults(text: str, _attempt: Attempt) -> Iterator[Change]:
    """Yields the change of all such defaults of a function to `None`, in place of which the body makes a new one."""
    if (found := parse_function(text)) is None:
        return
    parsed, function = found
    mutable = {name: value for name, value in defaults(function).items() if is_mutable(value) or _is_computed(value)}
    if not mutable or (place := first_statement(function, parsed)) is None:
        return
    first, indent = place
    step = "\t" if "\t" in indent else "    "
    edits = [replace_node(value, "None") for value in mutable.values()]
    annotations = [each.annotation for each in parameter_nodes(function) if each.arg in mutable and each.annotation]
    edits += [
        replace_node(each, f"{source_of(each, parsed)} | None")
        for each in annotations
        if not isinstance(each, ast.Constant)
    ]
    made = [
        f"if {name} is None:\n{indent}{step}{name} = {source_of(value, parsed)}\n{indent}"
        for name, value in mutable.items()
    ]
    yield change_of(parsed, [*edits, insert_before(first, "".join(made))], Kind.SLIP)


def _is_computed(value: ast.expr) -> bool:
    """Whether a default is a call that may give another value each time."""
    name = getattr(value.func, "id", "") or getattr(value.func, "attr", "") if isinstance(value, ast.Call) else ""
    return bool(name) and name not in CONSTANT_CALLS


def is_mutable(value: ast.expr) -> bool:
    """Whether an expression makes an object that can change."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in MUTABLE_CALLS
    return isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
