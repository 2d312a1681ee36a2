"""Tells which functions of a module a change concerns, by their syntax trees: comments and layout do not count."""

from __future__ import annotations

import ast
import copy
import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.python.ast_source import (
    FUNCTIONS,
    Function,
    docstring_statement,
    find_definitions,
    parse_module,
    statement_blocks,
)


@dataclass(frozen=True, kw_only=True)
class FunctionChanges:
    """Qualified names of the functions that both texts have and that differ, and of those that only one text has.

    A nested function counts for itself, and its changes not for the function around it.
    `outside`: code outside functions differs too; imports and docstrings do not count.
    """

    changed: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    outside: bool = False

    @property
    def kind(self) -> str:
        """One function, several functions, no function; empty where nothing differs but imports and docstrings."""
        if len(self.changed) == 1 and not self.others and not self.outside:
            return "one function"
        if self.changed or self.others:
            return "several functions"
        return "no function" if self.outside else ""


def compare_functions(old: str, new: str) -> FunctionChanges:
    """Compares two texts of a module. Raises `ValueError` for a text that cannot be parsed."""
    before, after = _Module(old), _Module(new)
    return FunctionChanges(
        changed=_names(
            key
            for key in before.functions
            if before.functions[key] != after.functions.get(key, "") and key in after.functions
        ),
        others=_names(
            key
            for key in {**before.functions, **after.functions}
            if (key in before.functions) != (key in after.functions)
        ),
        outside=before.outside != after.outside,
    )


def merge(all_changes: Sequence[tuple[str, FunctionChanges]]) -> FunctionChanges:
    """The changes of several modules; a name is `path::qualname`."""
    return FunctionChanges(
        changed=tuple(f"{path}::{name}" for path, each in all_changes for name in each.changed),
        others=tuple(f"{path}::{name}" for path, each in all_changes for name in each.others),
        outside=any(each.outside for _path, each in all_changes),
    )


def count_changed_lines(old: str, new: str) -> int:
    """The lines that a unified diff of the two texts removes or adds."""
    rows = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0))
    return sum(row[:1] in {"+", "-"} for row in rows[2:])


def _names(keys: Iterator[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name, _number in keys))


class _Module:
    """Code of a module's functions, by name and by their number among those of one name, and its other code."""

    def __init__(self, text: str) -> None:
        tree = parse_module(text)
        if isinstance(tree, SyntaxError):
            raise ValueError(str(tree))  # noqa: TRY004 - the text is at fault, not its type
        numbers: Counter[str] = Counter()
        self.functions: dict[tuple[str, int], str] = {}
        self.outside: list[str] = []
        try:
            for name, node in find_definitions(tree.body):
                if isinstance(node, FUNCTIONS):
                    self.functions[name, numbers[name]] = _own_code(node)
                    numbers[name] += 1
                else:
                    self.outside += [name, *map(ast.dump, [*node.bases, *node.decorator_list])]
                    self.outside += _statements(node)
            self.outside += _statements(tree)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error


def _statements(node: ast.Module | ast.ClassDef) -> list[str]:
    """The statements of a module's or class's own body without definitions, imports and docstring."""
    docstring = docstring_statement(node)
    return [ast.dump(_without_definitions(each)) for each in node.body if each is not docstring and _is_code(each)]


def _own_code(node: Function) -> str:
    """A function without its docstring and without the functions in it."""
    own = copy.copy(node)
    docstring = docstring_statement(node)
    own.body = [_without_definitions(each) for each in node.body if each is not docstring]
    return ast.dump(own)


def _without_definitions(node: ast.stmt) -> ast.stmt:
    """A statement without the definitions and imports in it."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return ast.Pass()
    if not any(isinstance(each, (*FUNCTIONS, ast.ClassDef)) for each in ast.walk(node)):
        return node
    result = copy.deepcopy(node)
    for block in [block for each in ast.walk(result) for block in statement_blocks(each)]:
        block[:] = [ast.Pass() if isinstance(each, (*FUNCTIONS, ast.ClassDef)) else each for each in block]
    return result


def _is_code(node: ast.stmt) -> bool:
    return not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom))
