"""Adds an answer's calls, like `register("low", low)`, and its imported definitions to modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import Fragment, dump_tree, find_definitions, parse_module, source_of, start_line
from greenloop.core.python.indentation import indentation_unit, reindent
from greenloop.core.python.names import bound_names, module_bindings
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.answers.definitions import pieces_of
from greenloop.drafting.candidates.answers.open_answers import find_places


def with_new_calls(
    problem: Problem, paths: Sequence[str], pieces: Sequence[Fragment], texts: Mapping[Region, str]
) -> dict[Region, str]:
    """The texts with the calls that the answer adds below code of these files.

    Each follows the last function or assignment there, so that what it uses is defined. A call that stands alone,
    or below code that is no part of a file, is an example and is left out.
    """
    result = dict(texts)
    for path in paths:
        module = parse_module(with_plain_ends(problem.files[path]))
        body = module.body if isinstance(module, ast.Module) else []
        for piece in pieces_of(path, pieces):
            for line, call in _new_calls(body, piece):
                _add_below(problem, path, source_of(call, piece.lines), result, line)
    return result


def with_new_definitions(
    problem: Problem, paths: Sequence[str], pieces: Sequence[Fragment], texts: Mapping[Region, str]
) -> dict[Region, str]:
    """The texts with the functions and classes that the answer imports from one of these files, which lacks them.

    Each follows the last function or assignment of its file.
    """
    result = dict(texts)
    wanted = {
        (path, each.name)
        for piece in pieces
        for node in piece.body
        if isinstance(node, ast.ImportFrom)
        for path in paths
        if _is_module(path, node.module or "")
        for each in node.names
        if each.name not in module_bindings(problem.files[path])
    }
    for path, name in sorted(wanted):
        for piece in pieces:
            node = dict(find_definitions(piece.body)).get(name)
            if node is not None:
                first, last = start_line(node, piece.lines), node.end_lineno or node.lineno
                rows = reindent(piece, first, last, "", indentation_unit(problem.files[path]))
                _add_below(problem, path, "\n".join(rows), result)
                break
    return result


def _is_module(path: str, module: str) -> bool:
    """Does an import of the module mean the file? Relative ones are told by their ends."""
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return bool(module) and f".{name}".endswith(f".{module}")


def _new_calls(body: Sequence[ast.stmt], piece: Fragment) -> Iterator[tuple[int, ast.stmt]]:
    """Yields the calls of the piece that the module lacks, with the last line of the user's code above each."""
    known = {dump_tree(each): each for each in body}
    named = {name: each for each in body for name in bound_names(each)}
    used = {node.id for each in body for node in ast.walk(each) if isinstance(node, ast.Name)}
    above: ast.stmt | None = None
    for node in piece.body:
        called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        same = known.get(dump_tree(node)) or next((named[name] for name in bound_names(node) if name in named), None)
        if same is not None:
            above = same
        elif called is not None and above is not None:
            first = next((each.id for each in ast.walk(called) if isinstance(each, ast.Name)), "")
            if first in named or first in used:  # not `print(f(1))`
                yield above.end_lineno or above.lineno, node


def _add_below(problem: Problem, path: str, source: str, texts: dict[Region, str], line: int | None = None) -> None:
    """Adds the statement to the last function or assignment of the module, or the last that ends by the line."""
    places = [each for each in find_places(path, problem.files[path]) if "." not in each.qualname]
    places = [each for each in places if line is None or each.end <= line]
    if not places:
        return
    place = max(places, key=lambda each: each.end)
    place = next((each for each in texts if each.overlaps(place)), place)
    text = texts.get(place) or with_plain_ends(region_text(problem, place))
    gap = "\n" if place.assigns and line is not None else "\n\n\n"
    texts[place] = f"{text.rstrip()}{gap}{source}\n"
