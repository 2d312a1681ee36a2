"""What must hold: the source of the target tests, with the fixtures and helpers of their file that they use."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from greenloop.core.nouns import Excerpt, Problem, Provenance
from greenloop.core.ports import Tools

MOST_TESTS = 4
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:  # noqa: ARG001
    """One excerpt for each test file; doctest examples need none, they stand in the region's own docstring."""
    wanted: dict[str, list[int]] = {}
    for case in problem.spec.cases:
        if case.provenance is not Provenance.DOCTEST:
            wanted.setdefault(case.path, []).append(case.line)
    return [
        Excerpt(title=f"{path} (must pass):", text=text, value=0.9)
        for path, lines in wanted.items()
        if (text := _tests(problem.files.get(path, ""), lines))
    ]


def _tests(text: str, lines: Sequence[int]) -> str:
    try:
        tree = ast.parse(text.lstrip("\ufeff"))
    except (SyntaxError, ValueError):
        return ""
    rows = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    top = {node.name: node for node in tree.body if isinstance(node, Definition)}
    tests = _around(tree, lines)[:MOST_TESTS]
    helpers: dict[str, Definition] = {}
    for test in tests:
        _used(test, top, helpers)
    names = {node.id for item in [*tests, *helpers.values()] for node in ast.walk(item) if isinstance(node, ast.Name)}
    constants = [
        _source(node, rows)
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and _binds(node) & names
    ]
    pieces = [*constants, *[_source(item, rows) for item in helpers.values() if item not in tests]]
    return "\n\n".join([*pieces, *[_source(test, rows) for test in tests]])


def _around(tree: ast.Module, lines: Sequence[int]) -> list[Definition]:
    """The test functions or methods at these lines, each once, in the order of the file."""
    found: dict[Definition, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            if any(first <= line <= (node.end_lineno or node.lineno) for line in lines):
                found[node] = None
    inner = {child for node in found for child in ast.walk(node) if child is not node}
    return sorted((node for node in found if node not in inner), key=lambda node: node.lineno)


def _used(node: ast.AST, top: Mapping[str, Definition], found: dict[str, Definition]) -> None:
    """Fixtures (parameters) and helpers (names) that the node uses, and what those use."""
    names = [item.id for item in ast.walk(node) if isinstance(item, ast.Name)]
    names += [item.arg for item in ast.walk(node) if isinstance(item, ast.arg)]
    for name in names:
        if name in top and name not in found and top[name] is not node and not name.startswith("test"):
            found[name] = top[name]
            _used(top[name], top, found)


def _binds(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)}


def _source(node: ast.stmt, rows: Sequence[str]) -> str:
    first = node.lineno
    if isinstance(node, Definition):
        first = min([first, *(item.lineno for item in node.decorator_list)])
    block = rows[first - 1 : node.end_lineno]
    margin = len(block[0]) - len(block[0].lstrip())
    return "\n".join(row[margin:] if not row[:margin].strip() else row for row in block)
