"""Chooses the code of an answer for a region: the last complete piece that defines it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from greenloop.core.compose import region_text
from greenloop.core.python.assignments import find_assignments
from greenloop.core.python.ast_source import (
    FUNCTIONS,
    Definition,
    Fragment,
    Function,
    decorator_role,
    dump_tree,
    find_definitions,
    first_definition,
    parameter_nodes,
    parameters,
    parse_fragment,
    plain_name,
    start_line,
    statements_of,
    walk_code,
)
from greenloop.core.python.indentation import indentation_of, indentation_unit, reindent
from greenloop.core.python.stubs import is_stub
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.answers.preserve import body_margin
from greenloop.drafting.candidates.changes.change import ChangeKind, Edit, change_of, replace_node

RegionNode = Definition | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The new code of a region: its piece of the answer, its node, and the statements around it (`siblings`)."""

    piece: Fragment
    node: RegionNode
    siblings: Sequence[ast.stmt]


def choose(problem: Problem, region: Region, pieces: Sequence[Fragment]) -> Choice | None:
    """The last piece with new code for a region, else the last that repeats the user's code or is a stub."""
    user = find_users_definition(problem, region)
    own = pieces_of(region.path, pieces)
    found = [choice for source in own if (choice := _find(problem, region, user, source))]
    choices = [choice for choice in found if choice.piece.path or _is_meant(problem, region, choice)]
    preferred = [choice for choice in choices if is_informative(problem, region, choice)] or choices
    return preferred[-1] if preferred else None


def pieces_of(path: str, pieces: Sequence[Fragment]) -> list[Fragment]:
    """The pieces that may be about a file: those that name it, or none."""
    return [piece for piece in pieces if piece.path in ("", path)]


def _is_meant(problem: Problem, region: Region, choice: Choice) -> bool:
    """Of the functions of this name in several files, is this the one with the answer's parameters, or most like it?"""
    alike = [each for each in (*problem.regions, *problem.suspects) if each.qualname == region.qualname]
    if len({each.path for each in alike}) < 2 or not isinstance(choice.node, FUNCTIONS):
        return True
    wanted, source = parameters(choice.node), ast.unparse(choice.node)

    def likeness(other: Region) -> tuple[bool, float]:
        text = region_text(problem, other)
        user = first_definition(text)
        has_parameters = isinstance(user, FUNCTIONS) and parameters(user) == wanted
        return has_parameters, SequenceMatcher(None, text, source, autojunk=False).ratio()

    return max(alike, key=likeness).path == region.path


def is_informative(problem: Problem, region: Region, choice: Choice) -> bool:
    """Is it more than the user's code once more, or a stub?"""
    user = None if region.created else next(iter(statements_of(region_text(problem, region))), None)
    return not _is_uninformative(choice.node, user)


def _is_uninformative(node: RegionNode, user: ast.stmt | None) -> bool:
    is_same = user is not None and dump_tree(node) == dump_tree(user)
    return is_same or (isinstance(node, FUNCTIONS) and is_stub(node))


def find_users_definition(problem: Problem, region: Region) -> Definition | None:
    """The user's definition; None where it is a generated stub, an assignment, or cannot be parsed.

    The stub of a setter counts, as its decorator tells it from the property's getter.
    """
    node = None if region.assigns else first_definition(region_text(problem, region))
    return node if node and (not region.created or decorator_role(node)) else None


def _find(problem: Problem, region: Region, user: Definition | None, source: Fragment) -> Choice | None:
    """The definition of a region in one piece: by its qualified name first, then by shorter endings of it.

    A method may be written without its class, or in a class that no file of the regions and suspects has; roles
    (setter, overload) are kept apart.
    """
    if region.imports:
        return None  # what it was meant to be is known
    if region.assigns:
        return _find_assignment(region, source)
    parts = plain_name(region.qualname).split(".")
    places = list(_definitions_with_siblings(source.body))
    for skip in range(len(parts)):
        name = ".".join(parts[skip:])
        matching = [place for place in places if place[0] == name and _is_same_kind(place[1], user)]
        if choice := _choose_by_role(source, matching, user):
            return choice
    if len(parts) > 1:
        own_names = _defined_names(problem)
        foreign = [
            place
            for place in places
            if place[0].count(".") == 1 and place[0].endswith(f".{parts[-1]}")
            if place[0].partition(".")[0] not in own_names and _is_same_kind(place[1], user)
        ]
        if choice := _choose_by_role(source, foreign, user):
            return choice
    if region.created and user is None and (choice := _find_assignment(region, source)):
        return choice
    return _wrap_bare_methods(user, source)


def _defined_names(problem: Problem) -> set[str]:
    """The functions and classes of the files of the regions and suspects."""
    paths = {region.path for region in (*problem.regions, *problem.suspects)}
    return {name for path in paths for name, _node in find_definitions(statements_of(problem.files.get(path, "")))}


def _find_assignment(region: Region, source: Fragment) -> Choice | None:
    """Finds the assignment to a name in one piece, or else the function that it defines under that name.

    By its qualified name first, then by that of a class attribute that is written without its class.
    """
    assignments, definitions = find_assignments(source), dict(find_definitions(source.body))
    owner, _dot, name = region.qualname.rpartition(".")
    for qualname in dict.fromkeys((region.qualname, name)):
        node = assignments.get(qualname) or (definitions.get(qualname) if owner else None)
        if node is not None and not isinstance(node, ast.ClassDef):
            siblings = definitions[owner].body if qualname != name else source.body
            return Choice(piece=source, node=node, siblings=siblings)
    return None


def _wrap_bare_methods(user: Definition | None, source: Fragment) -> Choice | None:
    """For a class as the region: wraps methods that were written without their class."""
    if not isinstance(user, ast.ClassDef):
        return None
    methods = {item.name for item in user.body if isinstance(item, FUNCTIONS)}
    methods_found = [
        item for item in source.body if isinstance(item, FUNCTIONS) and item.name in methods and takes_self(item)
    ]
    if not methods_found:
        return None
    lines = [f"class {user.name}:"]
    for item in methods_found:
        lines += reindent(source, start_line(item, source.lines), item.end_lineno or item.lineno, "    ", "    ")
    wrapped = parse_fragment("\n".join(lines))
    if isinstance(wrapped, SyntaxError) or not isinstance(node := wrapped.body[0], ast.ClassDef):
        return None
    return Choice(piece=wrapped, node=node, siblings=wrapped.body)


def takes_self(node: ast.stmt) -> bool:
    """Does the function take self or cls?"""
    names = [item.arg for item in [*node.args.posonlyargs, *node.args.args]] if isinstance(node, FUNCTIONS) else []
    return bool(names) and names[0] in ("self", "cls", "mcs")


def _definitions_with_siblings(
    body: Sequence[ast.stmt],
) -> Iterator[tuple[str, Definition, Sequence[ast.stmt]]]:
    """Every definition with its qualified name and the statements around it."""
    siblings: dict[str, Sequence[ast.stmt]] = {"": body}
    for name, node in find_definitions(body):
        siblings[name] = node.body
        yield name, node, siblings.get(name.rpartition(".")[0], body)


def _is_same_kind(node: Definition, user: Definition | None) -> bool:
    return user is None or isinstance(node, ast.ClassDef) == isinstance(user, ast.ClassDef)


def _choose_by_role(
    source: Fragment, places: Sequence[tuple[str, Definition, Sequence[ast.stmt]]], user: Definition | None
) -> Choice | None:
    # Edits of a file leave the existing stub next to the code that they add.
    places = [place for place in places if not (isinstance(place[1], FUNCTIONS) and is_stub(place[1]))] or places
    user_role = decorator_role(user) if user else ""
    same_role = [place for place in places if decorator_role(place[1]) == user_role]
    undecorated = [place for place in places if not place[1].decorator_list]
    for group in (same_role, undecorated):
        if group:
            return Choice(piece=source, node=group[-1][1], siblings=group[-1][2])
    return None


def region_indentation(problem: Problem, region: Region) -> tuple[str, str]:
    """Indentation, and one step of it, that the new text of a region needs."""
    old = with_plain_ends(region_text(problem, region))
    base = indentation_of(next((line for line in old.split("\n") if line.strip()), ""))
    inner = None if region.created else body_margin(old)
    if inner is not None and inner.startswith(base) and len(inner) > len(base):
        return base, inner[len(base) :]
    return base, indentation_unit(problem.files[region.path])


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
