"""Changes of an answer outside the requested regions: other code of files that the model was shown.

Functions and assignments count by their full names only (`TABLE`, `Basket.add`), and only where they say something
else than the user's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from greenloop.core.compose import region_text
from greenloop.core.python.assignments import assigned_names, find_assignments
from greenloop.core.python.ast_source import (
    FUNCTIONS,
    Fragment,
    Function,
    find_definitions,
    start_line,
    statements_of,
)
from greenloop.core.python.indentation import indentation_of, indentation_unit, reindent
from greenloop.core.python.names import bound_names, defined_names
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.answers.definitions import Choice, choose, is_informative, pieces_of


def shown_paths(problem: Problem) -> list[str]:
    """The files that an answer may change: those of the regions and suspects."""
    return list(dict.fromkeys(region.path for region in (*problem.regions, *problem.suspects)))


def named_elsewhere(
    problem: Problem, paths: Sequence[str], pieces: Sequence[Fragment], taken: Sequence[Region] = ()
) -> dict[Region, Choice]:
    """Finds the answer's versions of other code of these files, by its place; nothing that overlaps `taken`.

    A name that several of the files have is no place, unless the answer says which file it means.
    """
    places = [place for path in paths for place in find_places(path, problem.files[path])]
    names = [(piece.path, name) for piece in pieces for name in _names(piece)]
    found: dict[Region, Choice] = {}
    for path, name in dict.fromkeys(names):
        regions = [region for region in places if region.qualname == name and path in ("", region.path)]
        if len(regions) != 1 or any(regions[0].overlaps(other) for other in (*taken, *found)):
            continue
        choice = choose(problem, regions[0], pieces)
        if choice is not None and is_informative(problem, regions[0], choice):
            found[regions[0]] = choice
    return found


def with_new_members(
    problem: Problem, paths: Sequence[str], pieces: Sequence[Fragment], texts: Mapping[Region, str]
) -> dict[Region, str]:
    """The texts with the methods and attributes that the answer adds to classes of these files.

    Methods go below the last method of their class, or below the one of it that changes; attributes above the first.
    """
    result = dict(texts)
    for path, name, own, piece, node in classes_of(problem, paths, pieces):
        _add_members(problem, path, (name, own), (piece, node), result)
    return result


def classes_of(
    problem: Problem, paths: Sequence[str], pieces: Sequence[Fragment]
) -> Iterator[tuple[str, str, ast.ClassDef, Fragment, ast.ClassDef]]:
    """The classes of these files that the answer has too: path, qualified name, the user's, the piece, its own."""
    for path in paths:
        users = dict(find_definitions(statements_of(problem.files[path])))
        for piece in pieces_of(path, pieces):
            for name, node in find_definitions(piece.body):
                own = users.get(name)
                if isinstance(node, ast.ClassDef) and isinstance(own, ast.ClassDef):
                    yield path, name, own, piece, node


def stored_instead(problem: Problem, pieces: Sequence[Fragment]) -> list[Region]:
    """The stubs of properties in whose place a method of the answer sets the attribute (`self.total = 0`)."""
    stores = {
        f"{name.rpartition('.')[0]}.{node.attr}"
        for piece in pieces
        for name, function in _functions(piece.body)
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
    }
    return [region for region in problem.regions if region.created and region.qualname in stores]


def _add_members(
    problem: Problem,
    path: str,
    users: tuple[str, ast.ClassDef],
    offered: tuple[Fragment, ast.ClassDef],
    texts: dict[Region, str],
) -> None:
    """Adds the members that one class of the answer has and the user's class has not, also not in `texts` by now."""
    (name, own_class), (piece, node) = users, offered
    if any(region.path == path and region.qualname == name for region in texts):
        return  # the class as a whole has them
    known = {member for item in own_class.body for member in bound_names(item)}
    known |= {member for text in texts.values() for member in defined_names(text)}
    members = [item for item in node.body if isinstance(item, (*FUNCTIONS, ast.Assign, ast.AnnAssign))]
    new = [item for item in members if (names := bound_names(item)) and not names & known]
    own = [region for region in find_places(path, problem.files[path]) if region.qualname.rpartition(".")[0] == name]
    own = [next((region for region in texts if region.overlaps(place)), place) for place in own]
    methods = [region for region in own if not region.assigns] or own
    if new and not methods:
        rows = with_plain_ends(problem.files[path]).split("\n")
        end = own_class.end_lineno or own_class.lineno
        region = Region(path=path, qualname=name, start=start_line(own_class, rows), end=end)
        is_inline = own_class.body[0].lineno == own_class.lineno and not isinstance(own_class.body[0], ast.Pass)
        if not is_inline and not any(region.overlaps(each) for each in texts):
            texts[region] = _with_first_members(problem, region, own_class, piece, new)
    if not new or not methods:
        return
    changed = [region for region in texts if region in methods]
    unit = indentation_unit(problem.files[path])
    for item in new:
        rows = reindent(piece, start_line(item, piece.lines), item.end_lineno or item.lineno, "", unit)
        first, last = methods[0], (changed or methods)[-1]
        place = last if isinstance(item, FUNCTIONS) else first
        before = with_plain_ends(region_text(problem, place))
        text = texts.get(place, before)
        margin = before[: len(before) - len(before.lstrip())].rpartition("\n")[2]
        block = "".join(f"{margin}{row}\n" if row else "\n" for row in rows)
        if not text:
            texts[place] = block
        else:
            texts[place] = f"{text.rstrip()}\n\n{block}" if isinstance(item, FUNCTIONS) else f"{block}\n{text}"


def _with_first_members(
    problem: Problem, region: Region, own: ast.ClassDef, piece: Fragment, new: Sequence[ast.stmt]
) -> str:
    """A class that has no function or value yet, with these members below all that it says, or in place of `pass`."""
    rows = with_plain_ends(problem.files[region.path]).split("\n")
    said = [each for each in own.body if not (isinstance(each, ast.Pass) or ast.unparse(each) == "...")]
    header = rows[region.start - 1 : (said[-1].end_lineno or 0) if said else own.body[0].lineno - 1]
    if own.body[0].lineno == own.lineno:  # `class Closed(Exception): pass`
        line = rows[own.lineno - 1].encode()[: own.body[0].col_offset].decode().rstrip()
        header = [*rows[region.start - 1 : own.lineno - 1], line]
    unit = indentation_unit(problem.files[region.path])
    margin = indentation_of(rows[own.lineno - 1]) + unit
    for item in new:
        header += [""] if isinstance(item, FUNCTIONS) and (said or item is not new[0]) else []
        header += reindent(piece, start_line(item, piece.lines), item.end_lineno or item.lineno, margin, unit)
    return "\n".join(header) + "\n"


def find_places(path: str, text: str) -> Iterator[Region]:
    """Every function outside of others, and every assignment, of a file."""
    lines, body = tuple(with_plain_ends(text).split("\n")), tuple(statements_of(text))
    for name, node in _functions(body):
        yield Region(path=path, qualname=name, start=start_line(node, lines), end=node.end_lineno or node.lineno)
    for name, statement in find_assignments(Fragment(lines=lines, body=body)).items():
        if assigned_names(statement)[0] == name.rpartition(".")[2]:
            end = statement.end_lineno or statement.lineno
            yield Region(path=path, qualname=name, start=statement.lineno, end=end, assigns=True)


def _names(piece: Fragment) -> list[str]:
    return [*(name for name, _node in _functions(piece.body)), *find_assignments(piece)]


def _functions(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Function]]:
    """The functions of a module and its classes, not those inside functions; each name once, as it is last defined."""
    found: dict[str, Function] = {}
    inside: set[str] = set()
    for name, node in find_definitions(body):
        if name.rpartition(".")[0] in inside:
            inside.add(name)
        elif isinstance(node, FUNCTIONS):
            inside.add(name)
            found[name] = node
    yield from found.items()


def without_repeats(problem: Problem, choices: Mapping[Region, Choice]) -> dict[Region, Choice]:
    """The choices that say something else than the user's code; all of them where none does."""
    kept = {region: choice for region, choice in choices.items() if is_informative(problem, region, choice)}
    return kept or dict(choices)
