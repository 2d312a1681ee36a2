"""The function that was asked for, in an answer that gives it another name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import (
    FUNCTIONS,
    Fragment,
    Function,
    find_definitions,
    first_definition,
    parse_fragment,
    plain_name,
    walk_code,
)
from greenloop.core.python.parameters import parameter_nodes
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.drafting.candidates.changes.change import ChangeKind, Edit, change_of, replace_node


def under_asked_name(problem: Problem, pieces: Sequence[Fragment]) -> list[Fragment]:
    """The pieces with their only new function renamed; none where it need not be the one that was asked for.

    It is, where the names are alike but for case and underscores, or the parameters are as many. What the file has
    under that name is meant as it is written.
    """
    if len(problem.regions) != 1:
        return []
    (region,) = problem.regions
    wanted = None if region.assigns or region.imports else first_definition(region_text(problem, region))
    if not isinstance(wanted, FUNCTIONS):
        return []
    known = {node.id for node in walk_code(problem.files[region.path]) if isinstance(node, ast.Name)}
    known |= {node.name for node in walk_code(problem.files[region.path]) if isinstance(node, FUNCTIONS)}
    offered = [node for piece in pieces for node in _functions(region, piece) if node.name not in known]
    names = {node.name for node in offered}
    if len(names) != 1 or not all(_may_be_meant(node, wanted) for node in offered):
        return []
    return [renamed for piece in pieces if (renamed := _rename(piece, offered[0].name, wanted.name))]


def _functions(region: Region, piece: Fragment) -> Iterator[Function]:
    """The functions of a piece that stand where the region's may: in no class, or in one of that name."""
    owner = plain_name(region.qualname).rpartition(".")[0]
    for name, node in find_definitions(piece.body):
        place = name.rpartition(".")[0]
        is_test = node.name.startswith("test")
        if isinstance(node, FUNCTIONS) and not is_test and place in ("", owner, owner.rpartition(".")[2]):
            yield node


def _may_be_meant(node: Function, wanted: Function) -> bool:
    alike = node.name.replace("_", "").casefold() == wanted.name.replace("_", "").casefold()
    return alike or len(parameter_nodes(node)) == len(parameter_nodes(wanted))


def _rename(piece: Fragment, old: str, new: str) -> Fragment | None:
    nodes = [node for statement in piece.body for node in ast.walk(statement)]
    edits = [replace_node(node, new) for node in nodes if isinstance(node, ast.Name) and node.id == old]
    for node in nodes:
        if isinstance(node, FUNCTIONS) and node.name == old:
            row = piece.lines[node.lineno - 1].encode()
            start = row.find(old.encode(), node.col_offset + len("def "))
            if start < 0:
                return None  # the name is in a line of its own, behind a backslash
            edits.append(Edit(line=node.lineno, start=start, end=start + len(old.encode()), new=new))
        if isinstance(node, ast.Attribute) and node.attr == old:  # self.old(...)
            end = node.end_col_offset or 0
            edits.append(Edit(line=node.end_lineno or 0, start=end - len(old.encode()), end=end, new=new))
    parsed = parse_fragment(change_of(piece, edits, ChangeKind.NAME).text) if edits else None
    return parsed if isinstance(parsed, Fragment) else None
