"""Declarations of a class, and attributes that all its objects share."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import Fragment, parse_fragment, read_literal, source_of, statements_of
from greenloop.core.python.indentation import indentation_unit
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.changes.change import (
    ChangeKind,
    Edit,
    change_of,
    first_statement,
    insert_after,
    insert_before,
    parse_function,
    replace_node,
)
from greenloop.drafting.candidates.changes.slips.functions import is_mutable
from greenloop.project.syntax import definitions
from greenloop_sandbox import Failure

_IS_NOT = re.compile(r"= is(?:subclass|instance)\(<?(?:class ')?([\w.]+)[^,]*, \(?(?:<class ')?([\w.]+)")
_NO_EXCEPTION = re.compile(r"must derive from BaseException|inherit from BaseException|Expected a BaseException type")
_UNORDERED = re.compile(r"'[<>]=?' not supported between instances of '(\w+)' and '\1'")
_UNHASHABLE = re.compile(r"unhashable type: '(\w+)'")
_NOT_FROZEN = re.compile(r"DID NOT RAISE .*\bFrozenInstanceError\b|^FrozenInstanceError not raised")
_MEMBER = re.compile(r"<(\w+)\.\w+: ([^<>]+)>")
_NO_FIELD = re.compile(r"(\w+)\.__(?:init|new)__\(\) missing \d+ required [\w-]+ arguments?: (.+)")
_NO_SLOT = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
_GENERIC = ("object", "Exception", "BaseException")
_MUTABLE = {ast.List: "list", ast.Dict: "dict", ast.Set: "set"}
_DATACLASS = re.compile(r"^\s*@(?:\w+\.)*dataclass\b", re.MULTILINE)


# -- declarations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Class:
    """A class of the user's file, with its place and the failure that may be about it."""

    problem: Problem
    region: Region
    parsed: Fragment
    node: ast.ClassDef
    failure: Failure

    def candidate(self, edit: Edit, *imports: str) -> Candidate:
        return Candidate(texts={self.region: change_of(self.parsed, [edit], ChangeKind.SLIP).text}, imports=imports)


def declarations(problem: Problem, region: Region, attempt: Attempt) -> Iterator[Candidate]:
    """Yields the class of a region with a declaration that a failure asks for."""
    place = _class_of(problem, region)
    others = [_class_of(problem, each) for each in problem.regions[: problem.regions.index(region)]]
    parsed = parse_fragment(with_plain_ends(region_text(problem, place))) if place and place not in others else None
    if place is None or not isinstance(parsed, Fragment) or not isinstance(node := parsed.body[0], ast.ClassDef):
        return
    failures = {case.failure.message: case.failure for case in attempt.verdict.cases if case.failure}
    for failure in failures.values():
        found = _Class(problem=problem, region=place, parsed=parsed, node=node, failure=failure)
        for make in (_based, _comparable, _frozen, _with_default, _with_slot):
            yield from make(found)


def _class_of(problem: Problem, region: Region) -> Region | None:
    """The class that a region is, or to which it belongs."""
    listed = definitions.find_definitions(problem.files[region.path], region.path)
    for name in (region.qualname, region.qualname.rpartition(".")[0]):
        item = definitions.find_by_qualname(listed, name) if name else None
        if item is not None and item.kind == "class":
            same = (each for each in problem.regions if (each.path, each.qualname) == (region.path, name))
            return next(same, Region(path=region.path, qualname=name, start=item.start, end=item.end))
    return None


def _based(found: _Class) -> Iterator[Candidate]:
    """The class as a subclass of what the tests ask it to be."""
    message, name = found.failure.message, found.node.name
    if (match := _IS_NOT.search(message)) and match[1].rpartition(".")[2] == name:
        yield from _with_base(found, match[2].rpartition(".")[2])
    if _NO_EXCEPTION.search(message) and not found.node.bases:
        yield from _with_base(found, "Exception")


def _with_base(found: _Class, base: str) -> Iterator[Candidate]:
    """With a base in place of a generic one, or beside the others."""
    bases = found.node.bases
    generic = [each for each in bases if source_of(each, found.parsed.lines) in _GENERIC]
    if any(source_of(each, found.parsed.lines) == base for each in bases) or found.node.name == base:
        return
    if generic and isinstance(getattr(builtins, base, None), type):
        yield found.candidate(replace_node(generic[0], base))
    elif generic:
        yield found.candidate(insert_before(generic[0], f"{base}, "))
    elif bases:
        yield found.candidate(insert_after(bases[-1], f", {base}"))
    else:
        yield found.candidate(_behind_name(found, f"({base})"))


def _behind_name(found: _Class, bases: str) -> Edit:
    """Bases for a class that has none, whether or not it has empty parentheses."""
    header = found.parsed.lines[found.node.lineno - 1].encode()
    start = found.node.col_offset + re.match(rb"class\s+\w+", header[found.node.col_offset :]).end()  # type: ignore[union-attr]
    empty = re.match(rb"\s*\(\s*\)", header[start:])
    return Edit(line=found.node.lineno, start=start, end=start + (empty.end() if empty else 0), new=bases)


def _comparable(found: _Class) -> Iterator[Candidate]:
    """An enumeration whose members compare with their values, or with one another; a dataclass in an order."""
    message = found.failure.message
    bases = [each for each in found.node.bases if source_of(each, found.parsed.lines).rpartition(".")[2] == "Enum"]
    is_unordered = any(name == found.node.name for name in _UNORDERED.findall(message))
    values = [read_literal(value) for name, value in _MEMBER.findall(message) if name == found.node.name]
    is_compared = any(value and repr(value[0]) in _MEMBER.sub("", message) for value in values)
    if len(found.node.bases) == 1 and bases and (is_unordered or is_compared):
        assigned = [each.value for each in found.node.body if isinstance(each, ast.Assign)]
        kinds = {type(getattr(each, "value", None)) for each in assigned}
        if len(kinds) == 1 and kinds <= {int, str}:
            yield found.candidate(insert_before(bases[0], f"{kinds.pop().__name__}, "))
    if is_unordered:
        yield from _with_options(found, "order=True")


def _frozen(found: _Class) -> Iterator[Candidate]:
    """A dataclass whose objects cannot be changed, or have a hash."""
    is_unhashable = found.node.name in _UNHASHABLE.findall(found.failure.message)
    if is_unhashable or _NOT_FROZEN.search(found.failure.message):
        yield from _with_options(found, "frozen=True")
    if is_unhashable:
        yield from _with_options(found, "unsafe_hash=True")


def _with_options(found: _Class, option: str) -> Iterator[Candidate]:
    for each in found.node.decorator_list:
        function = each.func if isinstance(each, ast.Call) else each
        if source_of(function, found.parsed.lines).rpartition(".")[2] != "dataclass":
            continue
        if not isinstance(each, ast.Call):
            yield found.candidate(insert_after(each, f"({option})"))
        elif option.partition("=")[0] not in {keyword.arg for keyword in each.keywords}:
            last = (each.keywords[-1].value if each.keywords else None) or (each.args[-1] if each.args else None)
            yield found.candidate(
                insert_after(last, f", {option}") if last else replace_node(each, f"{ast.unparse(function)}({option})")
            )


def _with_default(found: _Class) -> Iterator[Candidate]:
    """A record with the default of a field that the failing test compares with."""
    match = _NO_FIELD.search(found.failure.message)
    if match is None or match[1] != found.node.name:
        return
    names = re.findall(r"'(\w+)'", match[2])
    fields = {
        each.target.id: each
        for each in found.node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is None
    }
    if len(names) == 1 and names[0] in fields and (value := _compared(found, names[0])) is not None:
        source = ast.unparse(value)
        if kind := _MUTABLE.get(type(value)):
            factory = f"lambda: {source}" if source.strip("[]{}") else kind
            default = insert_after(fields[names[0]], f" = field(default_factory={factory})")
            yield found.candidate(default, "from dataclasses import field")
        else:
            yield found.candidate(insert_after(fields[names[0]], f" = {source}"))


def _compared(found: _Class, name: str) -> ast.expr | None:
    """The literal to which an attribute is equal, as the failing test says."""
    for frame in found.failure.frames[:1]:
        text = found.problem.originals.get(frame.path) or ""
        holders = [
            each for each in definitions.find_definitions(text, frame.path) if each.start <= frame.line <= each.end
        ]
        span = (holders[-1].start, holders[-1].end) if holders else (1, 0)
        module = parse_fragment(with_plain_ends(definitions.line_span(text, *span)))
        for node in (each for item in getattr(module, "body", ()) for each in ast.walk(item)):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.Is):
                value = node.comparators[0]
                if getattr(node.left, "attr", "") == name and read_literal(value):
                    return value
    return None


def _with_slot(found: _Class) -> Iterator[Candidate]:
    """A class with one slot more, for an attribute that its own code sets."""
    for owner, name in _NO_SLOT.findall(found.failure.message):
        for each in found.node.body:
            is_slots = isinstance(each, ast.Assign) and source_of(each.targets[0], found.parsed.lines) == "__slots__"
            value = each.value if is_slots and isinstance(each, ast.Assign) else None
            if owner == found.node.name and isinstance(value, ast.Tuple | ast.List) and _sets(found.node, name):
                last = value.elts[-1] if value.elts else None
                text = f"[{name!r}]" if isinstance(value, ast.List) else f"({name!r},)"
                yield found.candidate(insert_after(last, f", {name!r}") if last else replace_node(value, text))


def _sets(node: ast.ClassDef, name: str) -> bool:
    stores = (each for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    return any(each.attr == name for each in stores)


# -- own attributes ---------------------------------------------------------------------------------------------------


def own_attributes(problem: Problem, region: Region, _attempt: Attempt) -> Iterator[Candidate]:
    """Yields the assignment to such an attribute and the constructor changed; nothing for another region."""
    owner, _dot, name = region.qualname.rpartition(".")
    statements = statements_of(with_plain_ends(region_text(problem, region))) if region.assigns and owner else ()
    value = getattr(statements[0], "value", None) if len(statements) == 1 else None
    if value is None or not is_mutable(value):
        return
    text = with_plain_ends(problem.files[region.path])
    listed = definitions.find_definitions(text, region.path)
    outer, constructor = (definitions.find_by_qualname(listed, each) for each in (owner, f"{owner}.__init__"))
    if outer is None:
        return
    made = f"self.{name} = {ast.unparse(value)}"
    line = definitions.line_span(text, region.start, region.start)
    indent, unit = line[: len(line) - len(line.lstrip())], indentation_unit(text)
    annotation = _annotation(statements[0], value)
    if _DATACLASS.search(definitions.line_span(text, outer.start, outer.name_line)):
        factory = {"[]": "list", "{}": "dict", "set()": "set"}.get(ast.unparse(value), f"lambda: {ast.unparse(value)}")
        field = f"{indent}{name}: {annotation} = field(default_factory={factory})\n"
        yield Candidate(texts={region: field}, imports=("from dataclasses import field",))
        return
    if constructor is not None:
        place = Region(path=region.path, qualname=constructor.qualname, start=constructor.start, end=constructor.end)
        if (longer := _with_statement(with_plain_ends(region_text(problem, place)), made)) is not None:
            yield Candidate(texts={region: f"{indent}{name}: {annotation}\n", place: longer})
        return
    has_base = "(" in definitions.line_span(text, outer.name_line, outer.header_end)
    rows = ["def __init__(self, *args, **kwargs):", f"{unit}super().__init__(*args, **kwargs)"] if has_base else []
    rows = [*(rows or ["def __init__(self):"]), f"{unit}{made}"]
    following = definitions.line_span(text, region.end + 1, region.end + 1)
    made_by = "".join(f"{indent}{row}\n" for row in rows) + ("\n" if following.strip() else "")
    yield Candidate(texts={region: made_by})


def _annotation(statement: ast.stmt, value: ast.expr) -> str:
    """The type that an assignment states, or that its value has."""
    if isinstance(statement, ast.AnnAssign):
        return ast.unparse(statement.annotation)
    if isinstance(value, ast.Call):
        return ast.unparse(value.func)
    return type(value).__name__.removesuffix("Comp").lower()


def _with_statement(text: str, statement: str) -> str | None:
    """A function's text with a statement before its others; None where it has no line of its own."""
    found = parse_function(text)
    place = first_statement(found[1], found[0]) if found else None
    if found is None or place is None:
        return None
    first, indent = place
    return change_of(found[0], [insert_before(first, f"{statement}\n{indent}")], ChangeKind.SLIP).text
