"""Mutation operators of the harness: named textual changes of single places in correct code.

The operators that a search tries as repairs are implemented separately, so that no figure measures itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from greenloop_lab.bench.mutation.ast_edits import Edit, Source

_SYMBOLS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_COMPARISONS = {
    "<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=", "<="), "!=": ("==",),
    "in": ("not in",), "not in": ("in",), "is": ("is not",), "is not": ("is",),
}  # fmt: skip
_OPERATORS = {
    "+": ("-", "*"), "-": ("+",), "*": ("+", "//"), "/": ("//", "*"), "//": ("/", "%"), "%": ("//",), "**": ("*",),
    "&": ("|",), "|": ("&",), "^": ("|",), "<<": (">>",), ">>": ("<<",),
}  # fmt: skip
_TWINS = [("min", "max"), ("any", "all")]
_WRONG = [*_TWINS, *((b, a) for a, b in _TWINS), ("sorted", "list"), ("int", "round"), ("sum", "max"), ("set", "list")]
_METHODS = [
    ("append", "extend"), ("lower", "upper"), ("startswith", "endswith"), ("find", "rfind"), ("index", "count"),
    ("keys", "values"), ("values", "items"), ("strip", "lstrip"), ("rstrip", "lstrip"), ("split", "rsplit"),
    ("add", "discard"), ("isdigit", "isalpha"), ("islower", "isupper"), ("match", "search"), ("search", "match"),
    ("union", "intersection"), ("popleft", "pop"), ("insert", "append"), ("ceil", "floor"), ("heappush", "heappop"),
]  # fmt: skip


Function = ast.FunctionDef | ast.AsyncFunctionDef


def all_edits(source: Source, function: Function) -> list[Edit]:
    """Every single edit that the operators make in the function's body, in the order of its text."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    nodes = [function, *(node for statement in body for node in ast.walk(statement))]
    by_place: dict[tuple[int, int, str], Edit] = {}
    for operator, make in OPERATORS.items():
        for node in nodes:
            for start, end, text in make(source, node, function):
                if source.text[start:end] != text:
                    line = source.text.count("\n", 0, start) + 1
                    edit = Edit(operator=operator, line=line, start=start, end=end, text=text)
                    by_place.setdefault((start, end, text), edit)
    return sorted(by_place.values(), key=lambda edit: (edit.start, edit.end, edit.text))


Change = tuple[int, int, str]
Operator = Callable[[Source, ast.AST, Function], Iterator[Change]]


def _symbol(source: Source, left: ast.expr, right: ast.expr, symbol: str) -> tuple[int, int] | None:
    """The place of the operator between two operands."""
    start, end = source.span(left)[1], source.span(right)[0]
    pattern = r"\s+".join(map(re.escape, symbol.split()))
    match = re.search(pattern, source.text[start:end])
    return (start + match.start(), start + match.end()) if match else None


def _comparison(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, right, kind in zip(operands, operands[1:], node.ops, strict=False):
            symbol = _SYMBOLS[type(kind)]
            if place := _symbol(source, left, right, symbol):
                for other in _COMPARISONS[symbol]:
                    yield *place, other


def _arithmetic(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if isinstance(node, ast.BinOp) and (symbol := _SYMBOLS.get(type(node.op))):
        place = _symbol(source, node.left, node.right, symbol)
        for other in _OPERATORS[symbol] if place else ():
            assert place is not None
            yield *place, other


def _change_augmented(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if isinstance(node, ast.AugAssign) and (symbol := _SYMBOLS.get(type(node.op))):
        place = _symbol(source, node.target, node.value, f"{symbol}=")
        for other in [*(f"{each}=" for each in _OPERATORS[symbol]), "="] if place else ():
            assert place is not None
            yield *place, other


def _and_or(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if isinstance(node, ast.BoolOp):
        symbol, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            if place := _symbol(source, left, right, symbol):
                yield *place, other


def _negate(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    tests = [node.test] if isinstance(node, ast.If | ast.While | ast.IfExp) else []
    tests += node.ifs if isinstance(node, ast.comprehension) else []
    for test in tests:
        if isinstance(test, ast.Compare) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            continue  # other operators cover these
        text = source.node_text(test)
        yield *source.span(test), f"not {text}" if isinstance(test, ast.Name | ast.Call) else f"not ({text})"


def _dropped_not(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return  # `constant` covers these
        start, _end = source.span(node)
        yield start, source.span(node.operand)[0], ""


def _constant(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield *source.span(node), str(not node.value)
    elif isinstance(node.value, int):
        yield *source.span(node), str(node.value + 1)
        if node.value > 0:
            yield *source.span(node), str(node.value - 1)
    elif isinstance(node.value, float):
        yield *source.span(node), repr(node.value + 1.0)


def _slice(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)):
        return
    for bound in (node.slice.lower, node.slice.upper):
        if bound is None:
            continue
        start, end = source.span(bound)
        text = source.node_text(bound)
        yield start, end, f"{text} + 1" if not isinstance(bound, ast.Constant) else ""
        yield start, end, ""


def _index(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    """An index or an argument of `range` that is off by one."""
    places: list[ast.expr] = []
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name | ast.BinOp):
        places.append(node.slice)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        places += [each for each in node.args[:2] if not isinstance(each, ast.Constant)]
    for place in places:
        yield *source.span(place), f"{source.node_text(place)} - 1"
        yield *source.span(place), f"{source.node_text(place)} + 1"


def _arguments(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if isinstance(node, ast.Call):
        for one, other in zip(node.args, node.args[1:], strict=False):
            if isinstance(one, ast.Starred) or isinstance(other, ast.Starred):
                continue
            (start, one_end), (other_start, end) = source.span(one), source.span(other)
            yield start, end, source.node_text(other) + source.text[one_end:other_start] + source.node_text(one)


def _twin(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        for one, other in _WRONG:
            if node.func.id == one:
                yield *source.span(node.func), other


def _method(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        end = source.span(node.func)[1]
        for one, other in _METHODS:
            if node.func.attr == one:
                yield end - len(one), end, other
            elif node.func.attr == other:
                yield end - len(other), end, one


def _name(source: Source, node: ast.AST, function: Function) -> Iterator[Change]:
    """Another local name in place of one that is read."""
    if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
        return
    local = _locals(function)
    if node.id in local:
        for other in local:
            if other != node.id:
                yield *source.span(node), other


def _locals(function: Function) -> list[str]:
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(name for name in [*names, *stored] if name not in {"self", "cls", "_"}))


def _drop_statement(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    """Deletes a statement on a line of its own, or replaces the only one of a block by `pass`."""
    for block in _blocks(node):
        for statement in block:
            simple = isinstance(
                statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Break | ast.Continue | ast.Delete
            )
            if not simple or statement.lineno != statement.end_lineno:
                continue
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            start, end = source.row(statement.lineno)
            if source.text[start:end].strip() != source.node_text(statement):
                continue
            yield (*source.span(statement), "pass") if len(block) == 1 else (start, end, "")


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block


def _change_return(source: Source, node: ast.AST, function: Function) -> Iterator[Change]:
    if isinstance(node, ast.Return) and node.value is not None:
        place = source.span(node.value)
        if isinstance(node.value, ast.Tuple | ast.List) and len(node.value.elts) > 1:
            yield *place, source.node_text(node.value.elts[0])
        if isinstance(node.value, ast.Call) and node.value.args and not isinstance(node.value.args[0], ast.Starred):
            yield *place, source.node_text(node.value.args[0])
        if isinstance(node.value, ast.BinOp):
            yield *place, source.node_text(node.value.left)
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            return
        for name in _locals(function)[:1]:
            yield *place, name


def _early(source: Source, node: ast.AST, _function: Function) -> Iterator[Change]:
    """Moves a `return` after a loop or branch into it."""
    for block in _blocks(node):
        for previous, statement in pairwise(block):
            else_end = previous.orelse[-1] if isinstance(previous, ast.If) and previous.orelse else None
            last_inner = else_end or (
                previous.body[-1] if isinstance(previous, ast.For | ast.While | ast.If | ast.With) else None
            )
            if last_inner is None or not isinstance(statement, ast.Return) or statement.lineno != statement.end_lineno:
                continue
            start, _end = source.row(statement.lineno)
            inner_start = source.row(last_inner.lineno)[0]
            indentation = source.text[inner_start : source.span(last_inner)[0]]
            if indentation.strip() or last_inner.col_offset <= statement.col_offset:
                continue
            yield start, source.span(statement)[0], indentation


OPERATORS: dict[str, Operator] = {
    "comparison": _comparison,
    "arithmetic": _arithmetic,
    "augmented assignment": _change_augmented,
    "and/or": _and_or,
    "negated condition": _negate,
    "dropped not": _dropped_not,
    "constant": _constant,
    "slice bound": _slice,
    "off by one": _index,
    "argument order": _arguments,
    "wrong function": _twin,
    "wrong method": _method,
    "wrong name": _name,
    "dropped statement": _drop_statement,
    "wrong return": _change_return,
    "early return": _early,
}
