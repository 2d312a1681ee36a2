"""The code to change, with what its module gives it: imports, constants, the class around it, sibling signatures."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from greenloop.core.compose import region_text
from greenloop.core.nouns import Excerpt, Problem, Region
from greenloop.core.ports import Tools

LONGEST_CONSTANT = 6  # lines; a longer table is named by its first lines


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:  # noqa: ARG001
    """One excerpt for each module: what the regions use of it, then the regions themselves."""
    by_path: dict[str, list[Region]] = {}
    for region in problem.regions:
        by_path.setdefault(region.path, []).append(region)
    return [_module(problem, path, regions) for path, regions in by_path.items()]


def _module(problem: Problem, path: str, regions: Sequence[Region]) -> Excerpt:
    text = problem.files[path].lstrip("\ufeff")
    used = {name for region in regions for name in _names(region_text(problem, region))}
    around = list(_around(text, regions, used))
    bodies = [region_text(problem, region).strip("\n") for region in regions]
    pieces = [*around, *[body for region, body in zip(regions, bodies, strict=True) if not region.created]]
    title = f"{path}:"
    if any(region.created for region in regions):
        names = ", ".join(region.qualname for region in regions if region.created)
        title = f"{path} (write {names} for it):"
    return Excerpt(title=title, text="\n\n".join(piece for piece in pieces if piece) or "# empty", value=1.0)


def _names(source: str) -> set[str]:
    """Every word of the region; a wrong one costs a line of context, a missed one a repair."""
    word, words = "", set()
    for letter in source + " ":
        if letter.isalnum() or letter == "_":
            word += letter
        elif word:
            words.add(word)
            word = ""
    return words


def _around(text: str, regions: Sequence[Region], used: set[str]) -> Iterator[str]:
    """Imports, short constants, signatures of siblings and class headers that the regions use; no broken file stops it."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    created = any(region.created for region in regions)
    imports, others = [], []
    for node in tree.body:
        end = node.end_lineno or node.lineno
        if any(region.start <= node.lineno and end <= region.end for region in regions):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.append("\n".join(rows[node.lineno - 1 : end]))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            if created or _bound(node) & used:
                others.append("\n".join(rows[node.lineno - 1 : min(end, node.lineno + LONGEST_CONSTANT - 1)]))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if created or node.name in used:
                others.append(_signature(node))
        elif isinstance(node, ast.ClassDef):
            inside = [region for region in regions if node.lineno <= region.start and region.end <= end]
            if inside or node.name in used:
                others.append(_class(node, inside))
    yield "\n".join(imports)
    yield "\n\n".join(others)


def _bound(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)}


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, margin: str = "") -> str:
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{margin}{keyword} {node.name}({ast.unparse(node.args)}){returns}: ..."


def _class(node: ast.ClassDef, inside: Sequence[Region]) -> str:
    """The class's header, its fields and how its other methods are called; `__init__` in full, it holds the state."""
    bases = ", ".join(ast.unparse(base) for base in [*node.bases])
    rows = [f"class {node.name}({bases}):" if bases else f"class {node.name}:"]
    for item in node.body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if any(region.start <= item.lineno <= region.end for region in inside):
                continue
            if item.name == "__init__":
                rows += ["    " + row for row in ast.unparse(item).split("\n")]
            else:
                rows.append(_signature(item, "    "))
        elif isinstance(item, (ast.Assign, ast.AnnAssign)):
            rows += ["    " + row for row in ast.unparse(item).split("\n")][:LONGEST_CONSTANT]
    if len(rows) == 1:
        rows.append("    ...")
    return "\n".join(rows)
