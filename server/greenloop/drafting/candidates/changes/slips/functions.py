"""How a function is declared and what it returns: decorators, `self`, defaults, `return`, lambdas in loops."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, Function, docstring_statement, source_of
from greenloop.core.python.parameters import defaults, parameter_nodes
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    ChangeKind,
    Edit,
    Slip,
    change_of,
    first_statement,
    fragment_slip,
    function_slip,
    insert_after,
    insert_before,
    replace_node,
    shown_by,
)

_TOO_MANY = re.compile(r"(?:^|: )(?:[\w.<>]+\.)?(\w+)\(\) takes \d+ positional arguments? but \d+ (?:was|were) given")
_MISSING = re.compile(r"(?:[\w.<>]+\.)?(\w+)\(\) missing \d+ required positional arguments?: ")
_NOT_CALLED = re.compile(r"<bound method (?:[\w.<>]+\.)?(\w+) of")
_CACHE = re.compile(r"^(?:\w+\.)?(?:lru_cache|cache)\b")
_NO_CONTEXT = re.compile(
    r"'(?:async_)?generator' object does not support the (?:asynchronous )?context manager|^__a?enter__$", re.MULTILINE
)
_LACKS = re.compile(r"object has no attribute '(\w+)'")
MOST_NAMES = 4  # names that are returned in turn, the last assigned one first
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
_GENERATES = (ast.Yield, ast.YieldFrom)
CONSTANT_CALLS = {
    *("bool", "int", "float", "complex", "str", "bytes", "tuple", "frozenset", "range", "object", "type", "len", "min"),
    *("max", "abs", "Path", "Decimal", "Fraction", "timedelta", "compile", "getenv", "TypeVar", "namedtuple"),
}
MUTABLE_CALLS = ("list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict", "bytearray")
_LOOPS = (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


# -- method access ----------------------------------------------------------------------------------------------------


@function_slip
def method_access(parsed: Fragment, function: Function, attempt: Attempt) -> Iterator[Slip]:
    """Yields the changes of a function that the failures name.

    A method gets a `self` before its parameters, `@staticmethod`, `@classmethod` where the first is `cls`, or
    `@property`; a property that reads itself reads `_name`; and `*` no longer asks for arguments by name.
    """
    shown = shown_by(attempt)
    decorators = [source_of(each, parsed.lines) for each in function.decorator_list]
    surplus, missing, not_called = (function.name in each.findall(shown) for each in (_TOO_MANY, _MISSING, _NOT_CALLED))
    if surplus and function.args.kwonlyargs and function.args.vararg is None:
        yield from _by_place(parsed, function)
    if decorators == ["property"] and "RecursionError" in {
        case.failure.type for case in attempt.verdict.cases if case.failure
    }:
        reads = [node for node in ast.walk(function) if isinstance(node, ast.Attribute) and node.attr == function.name]
        yield [replace_node(node, f"{source_of(node.value, parsed.lines)}._{function.name}") for node in reads]
    if decorators or not parsed.shift:
        return
    names = [each.arg for each in parameter_nodes(function)]
    indent = parsed.lines[function.lineno - 1][: function.col_offset]
    if surplus and names[:1] not in (["self"], ["cls"]):
        row = parsed.lines[function.lineno - 1].encode()
        place = row.index(b"(", function.col_offset) + 1
        new = "self, " if names else "self"
        yield [Edit(line=function.lineno, start=place, end=place, new=new)]
    wanted = ["@staticmethod"] if surplus and names[:1] != ["self"] else []
    wanted = ["@classmethod"] if (surplus or missing) and names[:1] == ["cls"] else wanted
    wanted += ["@property"] if not_called and len(names) == 1 else []
    yield from ([insert_before(function, f"{each}\n{indent}")] for each in wanted)


def _by_place(parsed: Fragment, function: Function) -> Iterator[Slip]:
    first = function.args.kwonlyargs[0]
    row = parsed.lines[first.lineno - 1].encode()
    star = re.search(rb"\*\s*,\s*$", row[: first.col_offset])
    if star is not None:
        yield [Edit(line=first.lineno, start=star.start(), end=first.col_offset)]


# -- decorators -------------------------------------------------------------------------------------------------------


@function_slip
def decorators(parsed: Fragment, function: Function, attempt: Attempt) -> Iterator[Slip]:
    """Yields the function with `@contextmanager`, without a cache, and with `@functools.wraps` for what it wraps."""
    indent = parsed.lines[function.lineno - 1][: function.col_offset]
    no_context = _NO_CONTEXT.search(shown_by(attempt))
    if no_context and not function.decorator_list and any(isinstance(each, ast.Yield) for each in ast.walk(function)):
        name = "asynccontextmanager" if isinstance(function, ast.AsyncFunctionDef) else "contextmanager"
        edit = insert_before(function, f"@{name}\n{indent}")
        yield change_of(parsed, [edit], ChangeKind.SLIP, f"from contextlib import {name}")
    caches = [each for each in function.decorator_list if _CACHE.search(source_of(each, parsed.lines))]
    if caches and "unhashable type" in shown_by(attempt):
        yield [Edit(line=each.lineno, end_line=(each.end_lineno or each.lineno) + 1) for each in caches]
    observed = {case.failure.observed for case in attempt.verdict.cases if case.failure}
    parameters = [each.arg for each in parameter_nodes(function)]
    for inner in (each for each in function.body if isinstance(each, FUNCTIONS) and not each.decorator_list):
        called = {getattr(node.func, "id", None) for node in ast.walk(inner) if isinstance(node, ast.Call)}
        wrapped = next((name for name in parameters if name in called), None)
        if wrapped and repr(inner.name) in observed:
            indent = parsed.lines[inner.lineno - 1][: inner.col_offset]
            edit = insert_before(inner, f"@functools.wraps({wrapped})\n{indent}")
            yield change_of(parsed, [edit], ChangeKind.SLIP, "import functools")


# -- missing super ----------------------------------------------------------------------------------------------------


@function_slip
def missing_super(parsed: Fragment, function: Function, attempt: Attempt) -> Iterator[Slip]:
    """Yields `__init__` with a call of the base's, where the failures say that an object lacks an attribute."""
    if function.name != "__init__" or not _LACKS.search(shown_by(attempt)):
        return
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    if "super" not in names and (place := first_statement(function, parsed)) is not None:
        first, indent = place
        yield [insert_before(first, f"super().__init__()\n{indent}")]


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
    printed = {each: _printed(each) for each in tails}
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


def _printed(statement: ast.Expr) -> ast.expr | None:
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
    """Whether a default is a call that may give another value each time."""
    name = getattr(value.func, "id", "") or getattr(value.func, "attr", "") if isinstance(value, ast.Call) else ""
    return bool(name) and name not in CONSTANT_CALLS


def is_mutable(value: ast.expr) -> bool:
    """Whether an expression makes an object that can change."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in MUTABLE_CALLS
    return isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)


# -- late binding -----------------------------------------------------------------------------------------------------


@fragment_slip
def late_binding(parsed: Fragment, _attempt: Attempt) -> Iterator[Slip]:
    """Yields the change that gives all such lambdas of a function the variable as a default."""
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
    yield [edit for node, names in variables.items() if (edit := _with_defaults(node, names))]


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
