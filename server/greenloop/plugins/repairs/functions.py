"""Returns that a function lacks, and defaults that all its calls share."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from greenloop.core.python.ast_source import (
    FUNCTIONS,
    Fragment,
    Function,
    defaults,
    docstring_statement,
    parameter_nodes,
    source_of,
)
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import first_statement, insert_after, insert_before, replace_node
from greenloop.plugins.repairs.slips import Slip, function_slip, shown_by

MOST_NAMES = 4  # names that are returned in turn, the last assigned one first
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
_GENERATES = (ast.Yield, ast.YieldFrom)
CONSTANT_CALLS = {
    *("bool", "int", "float", "complex", "str", "bytes", "tuple", "frozenset", "range", "object", "type", "len", "min"),
    *("max", "abs", "Path", "Decimal", "Fraction", "timedelta", "compile", "getenv", "TypeVar", "namedtuple"),
}
MUTABLE_CALLS = ("list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict", "bytearray")


# -- missing return ---------------------------------------------------------------------------------------------------


@function_slip
def missing_return(parsed: Fragment, function: Function, attempt: Attempt) -> Iterator[Slip]:
    """Yields the changes of a function that never returns a value; none for any other.

    What it prints last is returned in place of it.
    """
    own = list(_own_nodes(function.body))
    if any(isinstance(node, _GENERATES) or _returns_value(node) for node in own):
        return
    tails = [each for each in _tails(function.body) if each is not docstring_statement(function)]
    printed = {each: _printed_argument(each) for each in tails}
    if any(printed.values()):
        sources = {each: source_of(value or each.value, parsed.lines) for each, value in printed.items()}
        yield [replace_node(each, f"return {new}") for each, new in sources.items()]
    yield [insert_before(each, "return ") for each in tails]
    first = function.body[0]
    indent = parsed.lines[first.lineno - 1].encode()[: first.col_offset].decode()
    if indent.strip():  # the body is on the line of its header
        return
    stored = [node.id for node in own if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    stored = [*dict.fromkeys(reversed(stored))][:MOST_NAMES]
    made = [each.name for each in function.body if isinstance(each, FUNCTIONS)][-1:]
    for name in [*stored, *made, *_of_method(function, attempt)]:
        yield [insert_after(function.body[-1], f"\n{indent}return {name}")]


def _of_method(function: Function, attempt: Attempt) -> list[str]:
    """The `self` of a method, where the failures say that nothing was returned."""
    names = [each.arg for each in parameter_nodes(function)][:1]
    return names if names == ["self"] and "NoneType" in shown_by(attempt) else []


def _printed_argument(statement: ast.Expr) -> ast.expr | None:
    """The only argument of a call of `print`."""
    match statement.value:
        case ast.Call(func=ast.Name(id="print"), args=[value], keywords=[]) if not isinstance(value, ast.Starred):
            return value
    return None


def _own_nodes(statements: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yields the nodes of a function in the order of the text, without those of functions and classes in it."""
    for node in statements:
        yield node
        if not isinstance(node, _SCOPES):
            yield from _own_nodes(list(ast.iter_child_nodes(node)))


def _returns_value(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and node.value is not None


def _tails(block: Sequence[ast.stmt]) -> Iterator[ast.Expr]:
    """Yields the expressions that a block ends with, in each of its branches."""
    last = block[-1]
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant):
        yield last
    elif isinstance(last, ast.If | ast.With | ast.AsyncWith):
        yield from _tails(last.body)
        yield from _tails(last.orelse) if isinstance(last, ast.If) and last.orelse else ()


# -- mutable defaults -------------------------------------------------------------------------------------------------


@function_slip
def mutable_defaults(parsed: Fragment, function: Function, _attempt: Attempt) -> Iterator[Slip]:
    """Yields the change of all such defaults of a function to `None`, in place of which the body makes a new one."""
    mutable = {name: value for name, value in defaults(function).items() if is_mutable(value) or _is_computed(value)}
    if not mutable or (place := first_statement(function, parsed)) is None:
        return
    first, indent = place
    step = "\t" if "\t" in indent else "    "
    edits = [replace_node(value, "None") for value in mutable.values()]
    annotations = [each.annotation for each in parameter_nodes(function) if each.arg in mutable and each.annotation]
    edits += [
        replace_node(each, f"{source_of(each, parsed.lines)} | None")
        for each in annotations
        if not isinstance(each, ast.Constant)
    ]
    made = [
        f"if {name} is None:\n{indent}{step}{name} = {source_of(value, parsed.lines)}\n{indent}"
        for name, value in mutable.items()
    ]
    yield [*edits, insert_before(first, "".join(made))]


def _is_computed(value: ast.expr) -> bool:
    """True if a default is a call that may give another value each time."""
    name = getattr(value.func, "id", "") or getattr(value.func, "attr", "") if isinstance(value, ast.Call) else ""
    return bool(name) and name not in CONSTANT_CALLS


def is_mutable(value: ast.expr) -> bool:
    """True if an expression makes an object that can change."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in MUTABLE_CALLS
    return isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
