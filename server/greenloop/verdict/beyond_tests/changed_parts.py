"""Finds the functions and assignments that differ between two versions of the same files; pure functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from greenloop.core.python.assignments import assignments_in
from greenloop.core.python.ast_source import FUNCTIONS, dump_words, find_definitions, parse_module, start_line
from greenloop.core.text.diff import diff_hunks, with_plain_ends


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
        old = {**reachable_functions(old_module), **assignments_in(before)}
    rows = after.split("\n")
    for name, node in {**reachable_functions(new_module), **assignments_in(after)}.items():
        if name not in old or words_of(node) != words_of(old[name]):
            yield ChangedPart(path=path, start=start_line(node, rows), end=node.end_lineno or node.lineno)


def changed_lines(before: str, after: str) -> frozenset[int]:
    """Returns the lines of the new text that are not in the old one."""
    moved, found = 1, set[int]()
    for hunk in diff_hunks(before, after):
        found.update(hunk.start + moved + place for place in range(len(hunk.lines)))
        moved += len(hunk.lines) - (hunk.end - hunk.start)
    return frozenset(found)


def reachable_functions(module: ast.Module) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
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


def words_of(node: ast.AST) -> str:
    """The code of a node without its layout, its comments and its docstrings."""
    return " ".join(dump_words([node], docstrings=False))
