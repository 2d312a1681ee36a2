"""Finds the functions that differ between two versions of the same files, for calls of both; pure functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from greenloop.core.python.assignments import assignments_in
from greenloop.core.python.ast_source import parse_module, start_line
from greenloop.core.text.diff import with_plain_ends
from greenloop.verdict.beyond_tests.changed_parts import changed_lines, reachable_functions, words_of


@dataclass(frozen=True, kw_only=True)
class ChangedFunction:
    """A function that both versions have, and that does not mean the same in both.

    `start` and `end` are its lines in the new text, decorators included; `line` is the first of them that changed.
    `added` are parameters that only the new one has. `is_wrapped`: what is around it has changed, so it is called as
    callers call it, not without its decorators; the new version may be an assignment.
    """

    path: str
    qualname: str
    start: int
    end: int
    line: int
    added: tuple[str, ...] = ()
    is_wrapped: bool = False


def find_changed_functions(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[ChangedFunction, ...]:
    """Returns the changed functions of modules and classes, and those that read a changed assignment of their module.

    A function without the same name in both versions is not among them; one that a module assigns instead is.
    """
    return tuple(
        function
        for path, text in after.items()
        if path.endswith(".py") and before.get(path) and before[path] != text
        for function in _in_file(path, with_plain_ends(before[path]), with_plain_ends(text))
    )


def _in_file(path: str, before: str, after: str) -> Iterator[ChangedFunction]:
    old_module, new_module = parse_module(before), parse_module(after)
    if isinstance(old_module, SyntaxError) or isinstance(new_module, SyntaxError):
        return
    old, new = reachable_functions(old_module), reachable_functions(new_module)
    assigned = _changed_names(old_module, new_module)
    rows, touched = after.split("\n"), changed_lines(before, after)
    for name, node in new.items():
        if name not in old:
            continue
        is_changed = words_of(node) != words_of(old[name])
        reads = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if is_changed or reads & assigned:
            start, end = start_line(node, rows), node.end_lineno or node.lineno
            line = min((line for line in touched if start <= line <= end), default=node.lineno)
            added = tuple(each for each in _parameters(node) if each not in _parameters(old[name]))
            decorators = [[words_of(each) for each in version.decorator_list] for version in (node, old[name])]
            is_wrapped = "." not in name and decorators[0] != decorators[1]
            yield ChangedFunction(
                path=path, qualname=name, start=start, end=end, line=line, added=added, is_wrapped=is_wrapped
            )
    for name, statement in assignments_in(after).items():
        if name in old and name not in new and "." not in name:
            start, end = statement.lineno, statement.end_lineno or statement.lineno
            yield ChangedFunction(path=path, qualname=name, start=start, end=end, line=start, is_wrapped=True)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    arguments = function.args
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _changed_names(before: ast.Module, after: ast.Module) -> frozenset[str]:
    """The variables of the module to which another value is assigned than before."""
    old = {words_of(node) for node in before.body}
    changed = [
        node for node in after.body if isinstance(node, ast.Assign | ast.AnnAssign) and words_of(node) not in old
    ]
    targets = [each for node in changed for each in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return frozenset(each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))
