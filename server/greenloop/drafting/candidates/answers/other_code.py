"""Takes from an answer its changes outside the requested functions: calls, class headers, callees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import (
    Fragment,
    dump_tree,
    find_definitions,
    plain_name,
    source_of,
    start_line,
    statements_of,
)
from greenloop.core.python.indentation import indentation_unit, reindent
from greenloop.core.python.names import bound_names, module_bindings
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import split_lines, with_plain_ends
from greenloop.drafting.candidates.answers.definitions import Choice, choose, is_informative, pieces_of
from greenloop.drafting.candidates.answers.open_answers import classes_of, find_places


def called_functions(
    problem: Problem, choices: Mapping[Region, Choice], pieces: Sequence[Fragment]
) -> dict[Region, Choice]:
    """The answer's code for unwritten suspects that the chosen code names, and for those that this code names.

    Of a class that it names: special and private methods, and those that the tests or the chosen code name.
    """
    defined = {name for piece in pieces for name, _node in find_definitions(piece.body)}
    waiting = {
        region: choice
        for region in problem.suspects
        if plain_name(region.qualname) in defined  # by its full name: a bare method may be that of another class
        if is_unwritten(region_text(problem, region)) and (choice := choose(problem, region, pieces))
        if is_informative(problem, region, choice)
    }
    tests = "\n".join(problem.files.get(path, "") for path in dict.fromkeys(case.path for case in problem.spec.cases))
    words = "\n".join(_source(choice) for choice in choices.values()) if waiting else ""
    found: dict[Region, Choice] = {}
    while new := {each: waiting[each] for each in waiting if each not in found and _is_called(each, words, tests)}:
        found |= new
        words += "\n".join(_source(choice) for choice in new.values())
    return found


def _is_called(region: Region, words: str, tests: str) -> bool:
    owner, _, name = plain_name(region.qualname).rpartition(".")
    if not owner:
        return _names(words, name)
    is_used = name.startswith("_") or _names(words, name) or _names(tests, name)
    return is_used and _names(words, owner.rpartition(".")[2])


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _source(choice: Choice) -> str:
    lines = choice.piece.lines
    return "\n".join(lines[start_line(choice.node, lines) - 1 : choice.node.end_lineno or choice.node.lineno])


def with_new_headers(
    problem: Problem, paths: Sequence[str], pieces: Sequence[Fragment], texts: Mapping[Region, str]
) -> dict[Region, str]:
    """The texts with the classes of these files to which the answer gives other bases or decorators, each as a whole.

    What the answer leaves out stays: an answer that repeats a class often has its name alone.
    """
    result = dict(texts)
    for path, name, own, _piece, node in classes_of(problem, paths, pieces):
        if new := _new_header(own, node):
            _replace_header(problem, path, name, own, new, result)
    return result


def _new_header(own: ast.ClassDef, node: ast.ClassDef) -> ast.ClassDef | None:
    """The user's class with the bases and decorators of the answer's, without its body; None where it has them."""
    bases, keywords = (node.bases, node.keywords) if node.bases or node.keywords else (own.bases, own.keywords)
    new = _without_body(own, bases, keywords, node.decorator_list or own.decorator_list)
    old = _without_body(own, own.bases, own.keywords, own.decorator_list)
    return None if ast.dump(new) == ast.dump(old) else new


def _without_body(
    own: ast.ClassDef, bases: list[ast.expr], keywords: list[ast.keyword], decorators: list[ast.expr]
) -> ast.ClassDef:
    header = ast.ClassDef(name=own.name, bases=bases, keywords=keywords, decorator_list=decorators, body=[])
    header.type_params = getattr(own, "type_params", [])  # type: ignore[attr-defined]  # since Python 3.12
    return header


def _replace_header(
    problem: Problem, path: str, name: str, own: ast.ClassDef, new: ast.ClassDef, texts: dict[Region, str]
) -> None:
    """Puts the class with its new header in place of what `texts` has of it."""
    rows = tuple(with_plain_ends(problem.files[path]).split("\n"))
    region = Region(path=path, qualname=name, start=start_line(own, rows), end=own.end_lineno or own.lineno)
    if any(region.overlaps(each) and not region.start < each.start <= each.end <= region.end for each in texts):
        return
    lines = split_lines(with_plain_ends(region_text(problem, region)))
    inner = [each for each in texts if region.overlaps(each)]
    for each in sorted(inner, key=lambda one: -one.start):
        lines[each.start - region.start : each.end - region.start + 1] = split_lines(texts.pop(each))
    first, row = own.body[0], rows[own.lineno - 1]
    indent = row[: len(row) - len(row.lstrip())]
    header = "".join(f"{indent}{line}\n" for line in ast.unparse(new).strip().split("\n"))
    below = start_line(first, rows)
    if below == own.lineno:  # `class Closed(Exception): pass`
        header = f"{header[:-1]} {row.encode()[first.col_offset :].decode()}\n"
        below += 1
    texts[region] = header + "".join(lines[below - region.start :])


def with_new_calls(
    problem: Problem, paths: Sequence[str], pieces: Sequence[Fragment], texts: Mapping[Region, str]
) -> dict[Region, str]:
    """The texts with the calls that the answer adds below code of these files.

    Each follows the last function or assignment there, so that what it uses is defined. A call that stands alone,
    or below code that is no part of a file, is an example and is left out.
    """
    result = dict(texts)
    for path in paths:
        body = statements_of(problem.files[path])
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
    """Does an import of the module mean the file? Relative ones are recognised by their ends."""
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
