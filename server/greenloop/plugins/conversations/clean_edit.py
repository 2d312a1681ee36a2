"""Finds what a maintainer would send back in code that passes: dead statements, needless repetition, code in comments.

Only what is new counts. It must not know whether the code passes.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from greenloop.core.python.ast_source import FUNCTIONS, parse_module, statement_blocks
from greenloop.core.python.stubs import find_comments
from greenloop.core.text.diff import with_plain_ends

LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
YIELDS = (ast.Yield, ast.YieldFrom)
# Functions that give the same result when they are called again.
STEADY = {"all", "any", "bool", "callable", "getattr", "hasattr", "id", "isinstance", "issubclass", "len", "type"}
SHORTEST = 8  # characters of a comment that may be code


def find_blemishes(before: Mapping[str, str | None], after: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a sentence for each new blemish of the changed Python files (whole texts by path)."""
    found = []
    for path, text in after.items():
        if path.endswith(".py"):
            old = Counter(kind for kind, _line in _blemishes(before.get(path) or "", before.get(path) or ""))
            for kind, line in _blemishes(text, before.get(path) or ""):
                old[kind] -= 1
                if old[kind] < 0:
                    found.append(f"{kind}, {path}:{line}")
    return tuple(found)


def _blemishes(text: str, old: str) -> Iterator[tuple[str, int]]:
    """Each blemish with its line; what it says holds no line numbers, so that moved code is no new blemish."""
    plain = with_plain_ends(text)
    module = parse_module(plain)
    if not isinstance(module, ast.Module):
        return
    for node in ast.walk(module):
        for block in statement_blocks(node):
            yield from _in_block(block)
        if isinstance(node, ast.If):
            yield from _repeated_conditions(node)
        if isinstance(node, ast.BoolOp):
            values = [ast.dump(value) for value in node.values if not _may_change(value)]
            if len({*values}) < len(values):
                yield f"the same condition twice in `{_short(node)}`", node.lineno
    yield from _commented_code(plain, with_plain_ends(old))


def _in_block(block: Sequence[ast.stmt]) -> Iterator[tuple[str, int]]:
    for first, second in pairwise(block):
        if isinstance(first, LEAVES) and not _makes_generator(second):
            yield f"`{_short(second)}` can never run", second.lineno
        if _is_overwritten(first, second):
            yield f"`{_short(first)}` is overwritten by the next line", first.lineno
        if ast.dump(first) == ast.dump(second) and _is_needless_again(first):
            yield f"`{_short(first)}` is there twice", second.lineno


def _makes_generator(node: ast.stmt) -> bool:
    """Is it a `yield` that never runs, and by which the function is a generator nevertheless?"""
    return isinstance(node, ast.Expr) and isinstance(node.value, YIELDS)


def _is_needless_again(node: ast.stmt) -> bool:
    """Does the same statement right behind this one have no effect?"""
    if isinstance(node, ast.If):
        return isinstance(node.body[-1], LEAVES) and not _may_change(node.test)
    name = _assigned_name(node)
    return isinstance(node, ast.Assign) and bool(name) and not _may_change(node.value) and not _reads(node.value, name)


def _is_overwritten(first: ast.stmt, second: ast.stmt) -> bool:
    name = _assigned_name(first)
    if not name or name != _assigned_name(second) or not isinstance(second, ast.Assign) or _reads(second.value, name):
        return False
    return ast.dump(first) != ast.dump(second) and not _may_change(first)


def _may_change(node: ast.AST) -> bool:
    """May it have an effect, or another value when it is evaluated again?"""
    return any(
        isinstance(each, (ast.Await, ast.NamedExpr, *YIELDS))
        or (isinstance(each, ast.Call) and not (isinstance(each.func, ast.Name) and each.func.id in STEADY))
        for each in ast.walk(node)
    )


def _assigned_name(node: ast.stmt) -> str:
    """The only plain name that a statement assigns a value to."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _repeated_conditions(node: ast.If) -> Iterator[tuple[str, int]]:
    tests = {ast.dump(node.test)} if not _may_change(node.test) else set()
    branch: ast.stmt = node
    while isinstance(branch, ast.If) and len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If):
        branch = branch.orelse[0]
        if ast.dump(branch.test) in tests:
            yield f"`elif {_short(branch.test)}` repeats a condition", branch.lineno
        if not _may_change(branch.test):
            tests.add(ast.dump(branch.test))
    only = node.body[0] if len(node.body) == 1 else None
    if isinstance(only, ast.If) and ast.dump(only.test) == ast.dump(node.test) and not _may_change(node.test):
        yield f"`if {_short(only.test)}` repeats the condition around it", only.lineno


def _commented_code(text: str, old: str) -> Iterator[tuple[str, int]]:
    """New comments that hold a line of the old code."""
    lines = {line.strip() for line in old.split("\n")}
    for line, comment in find_comments(text):
        code = comment.lstrip("# ").strip()
        if len(code) >= SHORTEST and code in lines and not code.startswith("#"):
            yield f"`{comment.strip()[:60]}` is code in a comment", line


def _short(node: ast.AST) -> str:
    kinds = (*FUNCTIONS, ast.ClassDef)
    text = f"def {node.name}" if isinstance(node, kinds) else ast.unparse(node).split("\n")[0]
    return text if len(text) <= 60 else f"{text[:59]}…"
