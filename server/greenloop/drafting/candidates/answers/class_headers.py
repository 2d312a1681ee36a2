"""Bases and decorators that an answer gives to classes of the user's."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import Fragment, find_definitions, parse_module, start_line
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import split_lines, with_plain_ends
from greenloop.drafting.candidates.answers.definitions import pieces_of


def with_new_headers(
    problem: Problem, paths: Sequence[str], pieces: Sequence[Fragment], texts: Mapping[Region, str]
) -> dict[Region, str]:
    """The texts with the classes of these files to which the answer gives other bases or decorators, each as a whole.

    What the answer leaves out stays: an answer that repeats a class often has its name alone.
    """
    result = dict(texts)
    for path in paths:
        definitions = (pair for piece in pieces_of(path, pieces) for pair in find_definitions(piece.body))
        offered = [pair for pair in definitions if isinstance(pair[1], ast.ClassDef)]
        text = with_plain_ends(problem.files[path])
        module = parse_module(text)
        classes = dict(find_definitions(module.body)) if offered and isinstance(module, ast.Module) else {}
        for name, node in offered:
            own = classes.get(name)
            if isinstance(own, ast.ClassDef) and isinstance(node, ast.ClassDef) and (new := _new_header(own, node)):
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
