"""Values of another kind than is meant: types, comparisons, exceptions, and iterators that are read twice."""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterator

from greenloop.core.python.ast_source import Fragment, Function, source_of
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    ChangeKind,
    Edit,
    Slip,
    change_of,
    function_slip,
    insert_after,
    insert_before,
    replace_node,
    shown_by,
)

_CONCATENATED = re.compile(r'can only concatenate str \(not "(?:int|float)"\) to str')
_MIXED = re.compile(r"(?:for \S+|between instances of|concatenate):? ?'(?:int|float|str)' and '(?:int|float|str)'")
_JOINED = re.compile(r"sequence item \d+: expected str instance, \w+ found")
_BYTES_WANTED = re.compile(r"must be encoded before|a bytes-like object is required, not 'str'")
_INTEGER_WANTED = re.compile(
    r"'str' object cannot be interpreted as an integer|list indices must be integers or slices, not str"
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
# What is tried where the failure does not show what the tests expect: they tell one from another.
COMMON = (
    *("ValueError", "TypeError", "KeyError", "IndexError", "LookupError", "AttributeError", "RuntimeError"),
    *("NotImplementedError", "ZeroDivisionError", "OverflowError", "StopIteration", "FileNotFoundError", "OSError"),
)
_EXPECTED = re.compile(r"\braises\(\s*(\w+)\s*[,)]|\bassertRaises(?:Regex)?\(\s*(\w+)\s*[,)]")
_FLOAT = re.compile(r"\b\d+\.\d|\d[eE]-\d")


# -- conversions ------------------------------------------------------------------------------------------------------


@function_slip
def conversions(parsed: Fragment, function: Function, attempt: Attempt) -> Iterator[Slip]:
    """Yields a change for each place of a function where the conversion may be missing."""
    shown = shown_by(attempt)
    for edits_of in (edits_of for pattern, edits_of in _EDITS if pattern.search(shown)):
        for node in (each for item in function.body for each in ast.walk(item)):
            yield from edits_of(node, parsed)


def _operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    return [node.value] if isinstance(node, ast.AugAssign) else []


def _texts(node: ast.AST, _parsed: Fragment) -> Iterator[list[Edit]]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Add):
        for operand in _operands(node):
            if not isinstance(operand, ast.Constant | ast.JoinedStr | ast.BinOp):
                yield _call("str", operand)


def _numbers(node: ast.AST, _parsed: Fragment) -> Iterator[list[Edit]]:
    for operand in _operands(node):
        if not isinstance(operand, ast.Constant | ast.JoinedStr | ast.BinOp):
            yield from (_call(name, operand) for name in ("int", "float"))


def _joined(node: ast.AST, _parsed: Fragment) -> Iterator[list[Edit]]:
    match node:
        case ast.Call(func=ast.Attribute(attr="join"), args=[ast.expr() as items]):
            element = items.elt if isinstance(items, ast.GeneratorExp | ast.ListComp) else None
            yield _call("str", element) if element else _call("map", items, "str, ")


def _bytes(node: ast.AST, parsed: Fragment) -> Iterator[list[Edit]]:
    if not isinstance(node, ast.Call):
        return
    for each in node.args:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield [insert_before(each, "b")] if each.value.isascii() else [insert_after(each, ".encode()")]
        elif isinstance(each, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.JoinedStr):
            yield [insert_after(each, ".encode()")]
        elif isinstance(each, ast.BinOp):
            yield [replace_node(each, f"({source_of(each, parsed.lines)}).encode()")]


def _integers(node: ast.AST, _parsed: Fragment) -> Iterator[list[Edit]]:
    places = [node.slice] if isinstance(node, ast.Subscript) else node.args if isinstance(node, ast.Call) else []
    for each in places:
        if not isinstance(each, ast.Constant | ast.Slice | ast.Starred):
            yield _call("int", each)


def _call(name: str, node: ast.expr, before: str = "") -> list[Edit]:
    return [insert_before(node, f"{name}({before}"), insert_after(node, ")")]


_EDITS = (
    (_CONCATENATED, _texts),
    (_MIXED, _texts),
    (_MIXED, _numbers),
    (_JOINED, _joined),
    (_BYTES_WANTED, _bytes),
    (_INTEGER_WANTED, _integers),
)


# -- iterations -------------------------------------------------------------------------------------------------------


@function_slip
def iterations(_parsed: Fragment, function: Function, attempt: Attempt) -> Iterator[Slip]:
    """Yields the change of all such places of a function at once, by the kind of place."""
    shown = shown_by(attempt)
    nodes = [each for item in function.body for each in ast.walk(item)]
    loops = [node for node in nodes if isinstance(node, ast.For)]
    changed = [each.iter for each in loops if _CHANGED.search(shown) or _is_changed(each)]
    arguments = {each for node in nodes if isinstance(node, ast.Call) for each in node.args}
    iterators = [node for node in nodes if isinstance(node, ast.expr) and _is_iterator(node)]
    iterators = [each for each in iterators if not isinstance(each, ast.GeneratorExp) or each not in arguments]
    for places in (changed, iterators if _NOT_A_LIST.search(shown) else _read_again(nodes)):
        yield [edit for each in places for edit in _as_list(each)]


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


# -- exception types --------------------------------------------------------------------------------------------------


@function_slip
def exception_types(parsed: Fragment, function: Function, attempt: Attempt) -> Iterator[Slip]:
    """Yields a change for each `raise` of what the tests did not expect, and each handler that let it pass."""
    failures = [case.failure for case in attempt.verdict.cases if case.failure]
    raised = dict.fromkeys(each.type.rpartition(".")[2] for each in failures if each.type != "AssertionError")
    names = [name for each in failures for pair in _EXPECTED.findall(each.text) for name in pair if name]
    wanted = [name for name in dict.fromkeys((*names, *COMMON)) if _is_exception(name) and name not in raised]
    for node in (each for item in function.body for each in ast.walk(item)):
        if isinstance(node, ast.Raise) and (kind := _type_raised(node)) is not None:
            if source_of(kind, parsed.lines).rpartition(".")[2] in raised:
                yield from ([replace_node(kind, name)] for name in wanted)
        elif isinstance(node, ast.ExceptHandler) and node.type is not None:
            source = source_of(node.type, parsed.lines)
            listed = source[1:-1].rstrip(", ") if isinstance(node.type, ast.Tuple) else source
            for name in filter(_is_exception, raised):
                yield [replace_node(node.type, name)]
                yield [replace_node(node.type, f"({listed}, {name})")]


def _type_raised(node: ast.Raise) -> ast.expr | None:
    return node.exc.func if isinstance(node.exc, ast.Call) else node.exc


def _is_exception(name: str) -> bool:
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, Exception)


# -- alternatives -----------------------------------------------------------------------------------------------------


@function_slip
def alternatives(parsed: Fragment, function: Function, _attempt: Attempt) -> Iterator[Slip]:
    """Yields the change of each such comparison to `in`, or to `not in` for `x != 1 and 2` and `x != 1 or 2`."""
    for node in ast.walk(function):
        match node:
            case ast.BoolOp(values=[ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as sign]) as first, *others]):
                pass
            case _:
                continue
        if not all(isinstance(each, ast.Constant) for each in others):
            continue
        values = ", ".join(source_of(each, parsed.lines) for each in (*first.comparators, *others))
        word = "in" if isinstance(sign, ast.Eq) else "not in"
        yield [replace_node(node, f"{source_of(left, parsed.lines)} {word} ({values})")]


# -- float equality ---------------------------------------------------------------------------------------------------


@function_slip
def float_equality(parsed: Fragment, function: Function, attempt: Attempt) -> Iterator[Slip]:
    """Yields a change for each `==` and `!=` of a function, where the failures show a float."""
    if not any(case.failure and _FLOAT.search(case.failure.message) for case in attempt.verdict.cases):
        return
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as sign], comparators=[right]):
                sides = [left, right]
            case _:
                continue
        if any(isinstance(each, ast.Constant) and not isinstance(each.value, float) for each in sides):
            continue
        word = "not " if isinstance(sign, ast.NotEq) else ""
        new = f"{word}math.isclose({', '.join(source_of(each, parsed.lines) for each in sides)})"
        yield change_of(parsed, [replace_node(node, new)], ChangeKind.SLIP, "import math")
