"""Finds a function's literal answers to literal arguments: by branch, by `match` or from a table."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.core.python.ast_source import Function
from greenloop.drafting.candidates.checks.shown_examples import ShownExample, literal_value

SMALL = 2  # base cases use numbers up to this one, and containers of at most one item


@dataclass(frozen=True, kw_only=True)
class LiteralEntry:
    """A literal `output` for literal `inputs`. `code` is the expression that says so, on line `line`."""

    inputs: Mapping[str, Any]
    output: Any
    code: str
    line: int
    is_shared: bool = False  # the code has the same answer for other inputs


def parameters(function: Function) -> list[str]:
    arguments = function.args
    names = [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def bind_arguments(function: Function, example: ShownExample) -> dict[str, Any] | None:
    """The example's arguments by the names of the function's parameters; None where there are too many."""
    names = parameters(function)
    if len(example.arguments) > len(names):
        return None
    return {**dict(zip(names, example.arguments, strict=False)), **example.named}


def is_answer_to(entry: LiteralEntry, inputs: Mapping[str, Any], example: ShownExample) -> bool:
    """Is it the answer to this example? Code that checks only some of the arguments is a rule."""
    return (
        entry.inputs.keys() == inputs.keys()
        and all(are_equal(entry.inputs[name], inputs[name]) for name in inputs)
        and are_equal(entry.output, example.expected)
    )


def literal_entries(function: Function, module: ast.Module) -> Iterator[LiteralEntry]:
    names = parameters(function)
    for node in ast.walk(function):
        if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Return):
            yield from _branch_entries(node.test, node.body[0].value, names, f"`if {ast.unparse(node.test)[:60]}`")
        elif isinstance(node, ast.IfExp):
            yield from _branch_entries(node.test, node.body, names, f"`if {ast.unparse(node.test)[:60]}`")
        elif isinstance(node, ast.Match):
            yield from _match_entries(node, names)
        elif isinstance(node, ast.Subscript):
            yield from _table_entries(node.value, node.slice, names, function, module)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "get"
            and node.args
        ):
            yield from _table_entries(node.func.value, node.args[0], names, function, module)


def _branch_entries(test: ast.expr, result: ast.expr | None, names: Sequence[str], code: str) -> Iterator[LiteralEntry]:
    if result is None:
        return
    try:
        output = literal_value(result)
        matched = _matching_inputs(test, names)
    except ValueError:
        return
    for each in matched:
        yield LiteralEntry(inputs=each, output=output, code=code, line=test.lineno, is_shared=len(matched) > 1)


def _matching_inputs(test: ast.expr, names: Sequence[str]) -> list[dict[str, Any]]:
    """The inputs for which a condition holds. Raises `ValueError` for anything but equality with literals."""
    if isinstance(test, ast.BoolOp):
        inputs = [_matching_inputs(each, names) for each in test.values]
        if isinstance(test.op, ast.Or):
            return [each for part in inputs for each in part]
        if any(len(part) != 1 for part in inputs):
            raise ValueError
        return [{name: item for part in inputs for name, item in part[0].items()}]
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        raise ValueError
    left, right = test.left, test.comparators[0]
    if isinstance(test.ops[0], ast.In):
        return [_pair_inputs(left, item, names) for item in literal_value(right)]
    if type(test.ops[0]) not in (ast.Eq, ast.Is):
        raise ValueError
    if not _key_parameters(left, names):
        left, right = right, left
    return [_pair_inputs(left, literal_value(right), names)]


def _key_parameters(node: ast.expr, names: Sequence[str]) -> list[str]:
    """The parameters that an expression consists of, unchanged: `s`, `(a, b)`, `tuple(row)`."""
    if isinstance(node, ast.Name):
        return [node.id] if node.id in names else []
    if isinstance(node, ast.Tuple):
        found = [each.id for each in node.elts if isinstance(each, ast.Name) and each.id in names]
        return found if len(found) == len(node.elts) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("tuple", "list", "str"):
        return (
            _key_parameters(node.args[0], names) if len(node.args) == 1 and isinstance(node.args[0], ast.Name) else []
        )
    return []


def _pair_inputs(node: ast.expr, item: Any, names: Sequence[str]) -> dict[str, Any]:
    keys = _key_parameters(node, names)
    if isinstance(node, ast.Tuple) and keys and isinstance(item, tuple | list) and len(item) == len(keys):
        return dict(zip(keys, item, strict=True))
    if len(keys) != 1:
        raise ValueError
    return {keys[0]: item}


def _match_entries(node: ast.Match, names: Sequence[str]) -> Iterator[LiteralEntry]:
    for case in node.cases:
        if case.guard is None and len(case.body) == 1 and isinstance(case.body[0], ast.Return) and case.body[0].value:
            code = f"`case {ast.unparse(case.pattern)[:60]}`"
            patterns = case.pattern.patterns if isinstance(case.pattern, ast.MatchOr) else [case.pattern]
            for pattern in patterns:
                try:
                    item = literal_value(ast.parse(ast.unparse(pattern), mode="eval").body)
                    inputs, output = _pair_inputs(node.subject, item, names), literal_value(case.body[0].value)
                except (ValueError, SyntaxError):
                    continue
                line = case.body[0].lineno
                yield LiteralEntry(inputs=inputs, output=output, code=code, line=line, is_shared=len(patterns) > 1)


def _table_entries(
    node: ast.expr, key: ast.expr, names: Sequence[str], function: Function, module: ast.Module
) -> Iterator[LiteralEntry]:
    """The entries of a table in which a whole input is looked up."""
    if isinstance(node, ast.Name):
        node = _assigned_value(node.id, [*ast.walk(function), *module.body]) or node
    if not isinstance(node, ast.Dict) or not _key_parameters(key, names):
        return
    for key_node, output in zip(node.keys, node.values, strict=True):
        try:
            inputs = _pair_inputs(key, literal_value(key_node), names) if key_node is not None else {}
            if inputs:
                code = f"the table's `{ast.unparse(key_node)[:40]}: {ast.unparse(output)[:40]}`" if key_node else ""
                yield LiteralEntry(
                    inputs=inputs, output=literal_value(output), code=code, line=(key_node or key).lineno
                )
        except ValueError:
            continue


def _assigned_value(name: str, nodes: Sequence[ast.AST]) -> ast.expr | None:
    for node in nodes:
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in node.targets
        ):
            return node.value
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node.value
    return None


def computes_result(function: Function, module: ast.Module) -> bool:
    """Is a parameter used for anything but comparisons and lookups?"""
    names = parameters(function)
    recognised: set[int] = set()
    for node in ast.walk(function):
        tests: list[ast.expr] = []
        if isinstance(node, ast.If | ast.IfExp):
            try:
                tests = [node.test] if _matching_inputs(node.test, names) else []
            except ValueError:
                tests = [node.test] if _is_table_lookup(node.test, function, module) else []
        elif isinstance(node, ast.Match):
            tests = [node.subject]
        elif isinstance(node, ast.Subscript) and list(_table_entries(node.value, node.slice, names, function, module)):
            tests = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            entries = list(_table_entries(node.func.value, node.args[0], names, function, module))
            tests = [node.args[0]] if entries else []
        recognised |= {id(inner) for part in tests for inner in ast.walk(part)}
    loads = (node for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.Name))
    return any(node.id in names and id(node) not in recognised for node in loads)


def _is_table_lookup(test: ast.expr, function: Function, module: ast.Module) -> bool:
    """Is it a test like `x in TABLE`?"""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In)):
        return False
    table = test.comparators[0]
    if isinstance(table, ast.Name):
        table = _assigned_value(table.id, [*ast.walk(function), *module.body]) or table
    return isinstance(table, ast.Dict)


def is_small(item: Any) -> bool:
    """Is it a value that base cases use?"""
    if item is None or isinstance(item, bool):
        return True
    if isinstance(item, int | float | complex):
        return abs(item) <= SMALL
    return len(item) <= 1 if hasattr(item, "__len__") else False


def are_equal(first: Any, second: Any) -> bool:
    """Are the values equal? Lists and tuples of the same items are (`tuple(row)` is a key); True and 1 are not."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return list(first) == list(second)
    return isinstance(first, bool) == isinstance(second, bool) and bool(first == second)
