"""Finds the functions that differ between two versions of the same files; pure functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from greenloop.core.python.assignments import assignments_in
from greenloop.core.python.ast_source import FUNCTIONS, dump_words, find_definitions, parse_module, start_line
from greenloop.core.text.diff import diff_hunks, with_plain_ends


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


@dataclass(frozen=True, kw_only=True)
class ChangedPart:
    """A function or an assignment in a text, by its lines."""

    path: str
    start: int
    end: int


def find_changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[ChangedPart, ...]:
    """Returns the functions and assignments of the new texts that are new or mean something else than before."""
    return tuple(
        part
        for path, text in after.items()
        if path.endswith(".py") and before.get(path, "") != text
        for part in _parts_of(path, with_plain_ends(before.get(path, "")), with_plain_ends(text))
    )


def _parts_of(path: str, before: str, after: str) -> Iterator[ChangedPart]:
    old_module, new_module = parse_module(before), parse_module(after)
    if isinstance(new_module, SyntaxError):
        return
    old: dict[str, ast.stmt] = {}
    if not isinstance(old_module, SyntaxError):
        old = {**_functions(old_module), **assignments_in(before)}
    rows = after.split("\n")
    for name, node in {**_functions(new_module), **assignments_in(after)}.items():
        if name not in old or _words(node) != _words(old[name]):
            yield ChangedPart(path=path, start=start_line(node, rows), end=node.end_lineno or node.lineno)


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


def changed_lines(before: str, after: str) -> frozenset[int]:
    """Returns the lines of the new text that are not in the old one."""
    moved, found = 1, set[int]()
    for hunk in diff_hunks(before, after):
        found.update(hunk.start + moved + place for place in range(len(hunk.lines)))
        moved += len(hunk.lines) - (hunk.end - hunk.start)
    return frozenset(found)


def _in_file(path: str, before: str, after: str) -> Iterator[ChangedFunction]:
    old_module, new_module = parse_module(before), parse_module(after)
    if isinstance(old_module, SyntaxError) or isinstance(new_module, SyntaxError):
        return
    old, new = _functions(old_module), _functions(new_module)
    assigned = _changed_names(old_module, new_module)
    rows, touched = after.split("\n"), changed_lines(before, after)
    for name, node in new.items():
        if name not in old:
            continue
        is_changed = _words(node) != _words(old[name])
        reads = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if is_changed or reads & assigned:
            start, end = start_line(node, rows), node.end_lineno or node.lineno
            line = min((line for line in touched if start <= line <= end), default=node.lineno)
            added = tuple(each for each in _parameters(node) if each not in _parameters(old[name]))
            decorators = [[_words(each) for each in version.decorator_list] for version in (node, old[name])]
            is_wrapped = "." not in name and decorators[0] != decorators[1]
            yield ChangedFunction(
                path=path, qualname=name, start=start, end=end, line=line, added=added, is_wrapped=is_wrapped
            )
    for name, statement in assignments_in(after).items():
        if name in old and name not in new and "." not in name:
            start, end = statement.lineno, statement.end_lineno or statement.lineno
            yield ChangedFunction(path=path, qualname=name, start=start, end=end, line=start, is_wrapped=True)


def _functions(module: ast.Module) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that can be reached by their names: those inside other functions cannot."""
    found: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    inside: list[str] = []
    for name, node in find_definitions(module.body):
        if any(name.startswith(f"{outer}.") for outer in inside):
            continue
        if isinstance(node, FUNCTIONS):
            found[name] = node
            inside.append(name)
    return found


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    arguments = function.args
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _changed_names(before: ast.Module, after: ast.Module) -> frozenset[str]:
    """The variables of the module to which another value is assigned than before."""
    old = {_words(node) for node in before.body}
    changed = [node for node in after.body if isinstance(node, ast.Assign | ast.AnnAssign) and _words(node) not in old]
    targets = [each for node in changed for each in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return frozenset(each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def _words(node: ast.AST) -> str:
    return " ".join(dump_words([node], docstrings=False))
