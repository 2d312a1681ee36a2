"""Model text to candidate: `read` never raises, whatever the model wrote; each way to fail has a name.

Which code counts: for every region the *last* complete block that defines it, leaving aside blocks that only repeat the
user's code or hold a stub. From that block come also the imports and helpers which the new code uses and the module
lacks; earlier blocks lend what is still missing. Everything else in the answer (other functions of the module, tests,
`if __name__` blocks, example calls) is ignored: only regions change.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core import fences, unified
from greenloop.core.compose import region_text
from greenloop.core.diff import flat
from greenloop.core.mend import body_margin, keep_users_parts, with_first_line
from greenloop.core.names import bindings, bound_by, free_names, import_keys
from greenloop.core.nouns import Candidate, Finding, Problem, Region
from greenloop.core.patch import patched
from greenloop.core.repetition import REPETITION, looping
from greenloop.core.source import (
    DEFINITIONS,
    FUNCTIONS,
    Definition,
    Piece,
    definitions,
    dump,
    margin,
    piece,
    plain_name,
    reindent,
    role,
    start_of,
    unit_of,
)
from greenloop.core.unwritten import is_stub

EMPTY = "EmptyAnswer"
NO_CODE = "NoCode"
TRUNCATED = "TruncatedAnswer"
WRONG = "WrongFunction"

Found = Definition | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, kw_only=True)
class _Choice:
    """Where the new code of a region stands, and what surrounds it there."""

    piece: Piece
    node: Found
    holder: Sequence[ast.stmt]


def read(
    answer: str, problem: Problem, *, truncated: bool = False, base: Candidate | None = None
) -> Candidate | Finding:
    """The candidate in a model's answer, or why there is none.

    `base` is the candidate that search/replace blocks and hunks change, where it is not the user's code.
    `truncated`: the model stopped at its token limit. Error classes: EmptyAnswer, NoCode, TruncatedAnswer, Repetition,
    WrongFunction, SearchNotFound, and SyntaxError with its kinds; the line of a finding counts in the answer's code.
    """
    text = fences.body_of(answer)
    if not text.strip():
        return _cut(text) if truncated else Finding(error_class=EMPTY, message="The answer is empty.")
    changes = fences.edits(text) or unified.edits(text, truncated=truncated)
    blocks: Sequence[fences.Block] | Finding = [] if changes else fences.blocks(text)
    if changes:
        blocks = patched(problem, changes, base)
    if isinstance(blocks, Finding):
        return blocks
    if not blocks:
        return _cut(text) if truncated else Finding(error_class=NO_CODE, message="The answer holds no code.")
    pieces = [found for block in blocks if (found := _parsed(block, truncated=truncated)) is not None]
    choices = {region: choice for region in problem.regions if (choice := _choose(problem, region, pieces))}
    if not choices:
        return _why_not(problem, blocks, pieces, truncated=truncated)
    texts = {region: _text(problem, region, choice) for region, choice in choices.items()}
    return _with_extras(problem, texts, choices, pieces)


def _cut(text: str) -> Finding:
    if sentence := looping(text):
        return Finding(error_class=REPETITION, message=sentence)
    lines = text.count("\n") + 1 if text.strip() else 0
    return Finding(
        error_class=TRUNCATED, message=f"The answer was cut off after {lines} lines, before its code was complete."
    )


def _parsed(block: fences.Block, *, truncated: bool) -> Piece | None:
    found = piece(block.text)
    if isinstance(found, Piece):
        return found
    if truncated or not block.closed:
        found = piece(fences.whole_part(block.text))  # what was complete before the cut still counts
    return found if isinstance(found, Piece) else None


def _why_not(problem: Problem, blocks: Sequence[fences.Block], pieces: Sequence[Piece], *, truncated: bool) -> Finding:
    wanted = [plain_name(region.qualname) for region in problem.regions]
    simple = {name.split(".")[-1] for name in wanted} | {name.split(".")[0] for name in wanted}
    broken = [(block, error) for block in blocks if isinstance(error := piece(block.text), SyntaxError) and block.known]
    about = [pair for pair in broken if simple & set(fences.defined_names(pair[0].text))]
    if about or (broken and not pieces):
        block, error = (about or broken)[-1]
        last = block is blocks[-1]
        if last and (truncated or (block.fenced and not block.closed)):
            return _cut(block.text)
        if sentence := looping(block.text):
            return Finding(error_class=REPETITION, message=sentence)
        lines = block.text.split("\n")
        line = min(max(error.lineno or 1, 1), len(lines))
        message = f"{error.msg} in line {line}: {lines[line - 1].strip()[:120]}"
        return Finding(error_class=type(error).__name__, message=message, line=line)
    if truncated and not blocks[-1].closed:
        return _cut(blocks[-1].text)
    names = [name for found in pieces for name, _node in definitions(found.body)]
    goal = " or ".join(f"`{name}`" for name in wanted)
    if not names:
        return Finding(error_class=NO_CODE, message=f"The answer's code defines no function; {goal} is wanted.")
    seen = ", ".join(f"`{name}`" for name in dict.fromkeys(names[:5]))
    return Finding(error_class=WRONG, message=f"The answer defines {seen}, not {goal}.")


# -- choosing ---------------------------------------------------------------------------------------------------


def _choose(problem: Problem, region: Region, pieces: Sequence[Piece]) -> _Choice | None:
    user = _users_node(problem, region)
    found = [choice for one in pieces if (choice := _find(problem, region, user, one))]
    real = [choice for choice in found if not _says_nothing(choice.node, user)]
    chosen = real or found
    return chosen[-1] if chosen else None


def _says_nothing(node: Found, user: Definition | None) -> bool:
    same = user is not None and dump(node) == dump(user)
    return same or (isinstance(node, FUNCTIONS) and is_stub(node))


def _users_node(problem: Problem, region: Region) -> Definition | None:
    """The user's own definition; None where it is only a stub made for them or cannot be parsed."""
    if region.created:
        return None
    found = piece(region_text(problem, region))
    body = [] if isinstance(found, SyntaxError) else found.body
    return next((node for node in body if isinstance(node, DEFINITIONS)), None)


def _find(problem: Problem, region: Region, user: Definition | None, source: Piece) -> _Choice | None:
    """The definition of a region in one piece: the qualified name first, then shorter endings of it.

    A method may stand bare or in a class that the module does not have; roles (setter, overload) are told apart.
    """
    parts = plain_name(region.qualname).split(".")
    known = {name for name, _node in definitions(_module_body(problem, region.path))}
    places = list(_places(source.body))
    for skip in range(len(parts)):
        name = ".".join(parts[skip:])
        fitting = [place for place in places if place[0] == name and _fits(place[1], user)]
        if choice := _by_role(source, fitting, user):
            return choice
    if len(parts) > 1:
        foreign = [
            place
            for place in places
            if place[0].count(".") == 1 and place[0].endswith(f".{parts[-1]}")
            if place[0].partition(".")[0] not in known and _fits(place[1], user)
        ]
        if choice := _by_role(source, foreign, user):
            return choice
    if region.created:
        for node in reversed(source.body):
            if isinstance(node, ast.Assign | ast.AnnAssign) and parts[-1] in bound_by(node) and len(parts) == 1:
                return _Choice(piece=source, node=node, holder=source.body)
    return _bare_methods(user, source)


def _bare_methods(user: Definition | None, source: Piece) -> _Choice | None:
    """For a class as the region: methods written without their class."""
    if not isinstance(user, ast.ClassDef):
        return None
    methods = {item.name for item in user.body if isinstance(item, FUNCTIONS)}
    bare = [item for item in source.body if isinstance(item, FUNCTIONS) and item.name in methods and _takes_self(item)]
    if not bare:
        return None
    lines = [f"class {user.name}:"]
    for item in bare:
        lines += reindent(source, start_of(item, source.lines), item.end_lineno or item.lineno, "    ", "    ")
    found = piece("\n".join(lines))
    if isinstance(found, SyntaxError) or not isinstance(node := found.body[0], ast.ClassDef):
        return None
    return _Choice(piece=found, node=node, holder=found.body)


def _takes_self(node: ast.stmt) -> bool:
    names = [item.arg for item in [*node.args.posonlyargs, *node.args.args]] if isinstance(node, FUNCTIONS) else []
    return bool(names) and names[0] in ("self", "cls", "mcs")


def _places(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Definition, Sequence[ast.stmt]]]:
    """Every definition with its qualified name and the statements it stands among."""
    siblings: dict[str, Sequence[ast.stmt]] = {prefix.rstrip("."): body}
    for name, node in definitions(body, prefix):
        siblings[name] = node.body
        yield name, node, siblings.get(name.rpartition(".")[0], body)


def _fits(node: Definition, user: Definition | None) -> bool:
    return user is None or isinstance(node, ast.ClassDef) == isinstance(user, ast.ClassDef)


def _by_role(
    source: Piece, places: Sequence[tuple[str, Definition, Sequence[ast.stmt]]], user: Definition | None
) -> _Choice | None:
    wanted = role(user) if user else ""
    exact = [place for place in places if role(place[1]) == wanted]
    bare = [place for place in places if not place[1].decorator_list]
    for group in (exact, bare):
        if group:
            return _Choice(piece=source, node=group[-1][1], holder=group[-1][2])
    return None


def _module_body(problem: Problem, path: str) -> Sequence[ast.stmt]:
    found = piece(problem.files[path])
    return [] if isinstance(found, SyntaxError) else found.body


# -- the text of a region ---------------------------------------------------------------------------------------


def _margins(problem: Problem, region: Region) -> tuple[str, str]:
    """Margin and step of indentation that the new text of a region needs."""
    old = flat(region_text(problem, region))
    base = margin(next((line for line in old.split("\n") if line.strip()), ""))
    inner = None if region.created else body_margin(old)
    if inner is not None and inner.startswith(base) and len(inner) > len(base):
        return base, inner[len(base) :]
    return base, unit_of(problem.files[region.path])


def _text(problem: Problem, region: Region, choice: _Choice) -> str:
    base, unit = _margins(problem, region)
    node, source = choice.node, choice.piece
    rows = reindent(source, start_of(node, source.lines), node.end_lineno or node.lineno, base, unit)
    text = "\n".join(rows) + "\n"
    if not region.created:
        text = keep_users_parts(text, flat(region_text(problem, region)), unit)
    return text + _new_siblings(problem, region, choice, text)


def _new_siblings(problem: Problem, region: Region, choice: _Choice, text: str) -> str:
    """New methods and attributes of the region's class that its new text uses; they go below it."""
    owner = plain_name(region.qualname).rpartition(".")[0]
    classes = dict(definitions(_module_body(problem, region.path)))
    if not isinstance(classes.get(owner), ast.ClassDef) or not isinstance(choice.node, FUNCTIONS):
        return ""
    nodes = ast.walk(classes[owner])
    has = {item.attr for item in nodes if isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store)}
    has |= {name for item in classes[owner].body for name in bound_by(item)}
    in_class = choice.holder is not choice.piece.body
    offered = {
        item.name: item
        for item in choice.holder
        if isinstance(item, FUNCTIONS) and (in_class or _takes_self(item)) and item.name not in has
    }
    base, unit = _margins(problem, region)
    added: dict[str, str] = {}
    result = text
    while missing := [name for name in _loaded(result, owner) if name in offered and name not in added]:
        node = offered[missing[0]]
        first, last = start_of(node, choice.piece.lines), node.end_lineno or node.lineno
        added[missing[0]] = "\n" + "\n".join(reindent(choice.piece, first, last, base, unit)) + "\n"
        result += added[missing[0]]
    return "".join(added.values())


def _loaded(text: str, owner: str) -> list[str]:
    """Attributes that code reads from self, cls or its own class, in order."""
    found = piece(text)
    nodes = [] if isinstance(found, SyntaxError) else [inner for item in found.body for inner in ast.walk(item)]
    names = ("self", "cls", owner.rpartition(".")[2])
    return [
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names
    ]


# -- what the module gains beside -------------------------------------------------------------------------------


def _with_extras(
    problem: Problem, texts: dict[Region, str], choices: dict[Region, _Choice], pieces: Sequence[Piece]
) -> Candidate:
    chosen = {id(choice.piece) for choice in choices.values()}
    taken = {id(choice.node) for choice in choices.values()}
    order = sorted(pieces, key=lambda one: id(one) in chosen)  # later ones win: the chosen pieces come last
    imports: dict[str, None] = {}
    helpers: dict[str, tuple[int, int, str]] = {}
    result: dict[Region, str] = {}
    for region, plain in texts.items():
        text = plain
        module = bindings(problem.files[region.path])
        offered = _offered(region.path, order)
        own = {plain_name(one.qualname).split(".")[0] for one in problem.regions if one.path == region.path}
        waiting, seen = sorted(free_names(text)), set(own)
        while waiting:
            name = waiting.pop(0)
            if name in seen or name not in offered:
                continue
            seen.add(name)
            place, source, node = offered[name]
            if id(node) in taken:
                continue  # recursion
            statement = _import_of(node, name)
            if name in module and (not statement or _same_import(node, name, module[name])):
                if statement and not _has_import(node, name, module[name]):
                    imports[statement] = None
            elif name in module:
                _base, unit = _margins(problem, region)
                text = with_first_line(text, statement, unit)  # at the top it would rebind a name that others use
            elif statement:
                imports[statement] = None
            else:
                helper = _helper(problem, region, source, node)
                helpers.setdefault(helper, (place, node.lineno, name))
                waiting += sorted(free_names(helper))
        result[region] = text
        if "annotations" not in module and _wants_future(pieces, text, flat(region_text(problem, region))):
            imports["from __future__ import annotations"] = None
    return Candidate(
        texts=result,
        imports=tuple(sorted(imports, key=lambda text: not text.startswith("from __future__"))),
        helpers=tuple(sorted(helpers, key=lambda text: helpers[text])),
    )


def _offered(path: str, pieces: Sequence[Piece]) -> dict[str, tuple[int, Piece, ast.stmt]]:
    """Top-level statements of the answer by the names they bind; imports of the module itself are left out."""
    result: dict[str, tuple[int, Piece, ast.stmt]] = {}
    for place, source in enumerate(pieces):
        for node in source.body:
            if isinstance(node, ast.ImportFrom) and _is_module(node, path):
                continue
            if isinstance(node, ast.For | ast.While | ast.With | ast.Expr | ast.Assert | ast.AugAssign | ast.Delete):
                continue
            if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
                continue
            for name in bound_by(node):
                result[name] = (place, source, node)
    return result


def _is_module(node: ast.ImportFrom, path: str) -> bool:
    """Does the statement import from the file at `path` itself?"""
    own = path.removesuffix(".py").removesuffix("/__init__").split("/")
    named = (node.module or "").split(".")
    if node.level:
        return node.level == 1 and named == own[-1:]
    return named == own[-len(named) :]


def _import_of(node: ast.stmt, name: str) -> str:
    """The statement that imports just this name, or nothing."""
    if isinstance(node, ast.Import):
        chosen = [item for item in node.names if (item.asname or item.name.split(".")[0]) == name]
        return ast.unparse(ast.Import(names=chosen))
    if isinstance(node, ast.ImportFrom):
        chosen = [item for item in node.names if (item.asname or item.name) == name]
        return ast.unparse(ast.ImportFrom(module=node.module, names=chosen, level=node.level))
    return ""


def _same_import(node: ast.stmt, name: str, known: set[str]) -> bool:
    """Is the name bound to the same thing already (or to the package around it)?"""
    key = import_keys(node)[name]
    return key in known or (
        isinstance(node, ast.Import) and any(one.split(".")[0] == key.split(".")[0] for one in known)
    )


def _has_import(node: ast.stmt, name: str, known: set[str]) -> bool:
    return import_keys(node)[name] in known


def _helper(problem: Problem, region: Region, source: Piece, node: ast.stmt) -> str:
    unit = unit_of(problem.files[region.path])
    first = start_of(node, source.lines)
    while first - 2 >= source.shift and source.lines[first - 2].strip().startswith("#"):
        first -= 1
    return "\n".join(reindent(source, first, node.end_lineno or node.lineno, "", unit)) + "\n"


def _wants_future(pieces: Sequence[Piece], text: str, old: str) -> bool:
    """Does the answer rely on postponed annotations that the user's code did not have?"""
    asked = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for one in pieces for node in one.body)
    return asked and bool(_annotations(text) - _annotations(old))


def _annotations(text: str) -> set[str]:
    found = piece(text)
    nodes = [] if isinstance(found, SyntaxError) else [inner for item in found.body for inner in ast.walk(item)]
    marks = [mark for node in nodes for mark in (getattr(node, "annotation", None), getattr(node, "returns", None))]
    return {dump(mark) for mark in marks if isinstance(mark, ast.AST)}
