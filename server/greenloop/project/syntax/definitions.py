"""Definitions of Python source as edited, found by tree-sitter even in files with syntax errors.

This module knows texts only: no files, no workspace, no tests. Line numbers are 1-based and inclusive, decorators
included. A function inside a function cannot be named: it belongs to the outermost function around it.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from greenloop.core.python.stubs import is_unwritten
from greenloop.project.syntax.outline import Outline as Outline  # noqa: PLC0414 - part of this module's interface
from greenloop.project.syntax.outline import parse_outline
from greenloop.project.syntax.tree_sitter import BLOCKS, Node, node_text, normalize_text, parse
from greenloop.project.syntax.tree_sitter import Definition as Definition  # noqa: PLC0414 - likewise
from greenloop.project.syntax.tree_sitter import split_lines as split_lines  # noqa: PLC0414 - likewise

_LOCK = threading.Lock()
_MOST_KEPT = 32
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, kw_only=True)
class Binding:
    """An import or assignment: its lines and the names it binds (`*` for a star import)."""

    kind: Literal["import", "assignment"]
    names: tuple[str, ...]
    start: int
    end: int


def identifiers(text: str) -> set[str]:
    """All identifiers in the text, keywords included."""
    return set(_NAME.findall(text))


@lru_cache(maxsize=16)  # hundreds of functions of a few modules are looked at one after the other
def lines_of(text: str) -> tuple[str, ...]:
    """As `split_lines`, kept for the next call."""
    return tuple(split_lines(text))


def line_span(text: str, start: int, end: int) -> str:
    """Lines `start` to `end` of the text, 1-based and inclusive."""
    return "".join(lines_of(text)[start - 1 : end])


_kept: OrderedDict[str, Outline] = OrderedDict()


def find_definitions(text: str, path: str = "") -> tuple[Definition, ...]:
    """Every addressable definition in the order of the text.

    `path` is only a cache key: the newest text of each path is kept as parsed chunks, so that the next one, a
    keystroke later, costs only parsing the chunk that changed.
    """
    return cached_outline(text, path).definitions


def cached_outline(text: str, path: str = "") -> Outline:
    """The outline behind `find_definitions`, for callers that need few of them; `path` as there."""
    with _LOCK:
        cached = _kept.get(path)
        if cached is None:
            cached = parse_outline(text)
        elif cached.text != text:
            cached = cached.updated(text)
        _kept[path] = cached
        _kept.move_to_end(path)
        if len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
        return cached


def find_bindings(text: str) -> tuple[Binding, ...]:
    """The imports and assignments at top level, also inside `if` and `try`, in the order of the text."""
    return tuple(_bindings(parse(normalize_text(text)).children))


def enclosing_definition(text: str, line: int, path: str = "") -> Definition | None:
    """The innermost addressable definition at a line."""
    return cached_outline(text, path).definition_at(line)


def find_by_qualname(definitions: Sequence[Definition], qualname: str, *, sets: bool = False) -> Definition | None:
    """The definition that a name refers to at run time: the last one, but the getter of a property, unless it `sets`.

    Overloads and definitions for type checkers count only if there is nothing else.
    """
    matches = [definition for definition in definitions if definition.qualname == qualname]
    at_run_time = [item for item in matches if not item.typing_only and not is_overload(item)]
    matches = at_run_time or matches
    if not matches:
        return None
    is_accessor = any(_ACCESSOR.search(mark) for mark in matches[-1].decorators)
    return matches[0] if is_accessor and not sets else matches[-1]


def is_overload(definition: Definition) -> bool:
    """Is it a signature for type checkers (`@overload`)?"""
    return any(_OVERLOAD.fullmatch(mark) for mark in definition.decorators)


_OVERLOAD = re.compile(r"(?:\w+\.)*overload")
_ACCESSOR = re.compile(r"\.(?:setter|getter|deleter|register)\b")


def _bindings(nodes: Sequence[Node]) -> Iterator[Binding]:
    for node in nodes:
        if node.type in BLOCKS:
            yield from _bindings(node.children)
        elif node.type in {"import_statement", "import_from_statement", "future_import_statement"}:
            name_nodes = node.children_by_field_name("name")
            names = tuple(
                _imported_name(child, whole=node.type == "import_from_statement") for child in name_nodes
            ) or ("*",)
            yield _binding("import", names, node)
        elif node.type == "expression_statement" and node.children and node.children[0].type in _ASSIGNING:
            target = node.children[0].child_by_field_name("left")
            if target is not None and target.type in {"identifier", "pattern_list", "tuple_pattern", "list_pattern"}:
                yield _binding("assignment", tuple(_NAME.findall(node_text(target))), node)
        elif node.type == "type_alias_statement":
            yield _binding("assignment", tuple(_NAME.findall(node_text(node.named_children[0]))[:1]), node)


_ASSIGNING = {"assignment", "augmented_assignment"}


def _imported_name(node: Node, *, whole: bool) -> str:
    if node.type == "aliased_import":
        alias = node.child_by_field_name("alias")
        return node_text(alias) if alias is not None else ""
    return node_text(node) if whole else node_text(node).partition(".")[0]


def _binding(kind: Literal["import", "assignment"], names: tuple[str, ...], node: Node) -> Binding:
    return Binding(kind=kind, names=names, start=node.start_point[0] + 1, end=node.end_point[0] + 1)


# -- what is not written yet ------------------------------------------------------------------------------------------


_LEFT_OPEN = re.compile(r"(?:\w+\.)*(?:abstract\w*|overload)\b")
_ACCESSOR_NAME = re.compile(r"\w+\.(setter|deleter|getter)\b")
_PROTOCOL = re.compile(r"(?:\w+\.)*Protocol\b")


def unwritten_functions(text: str, path: str = "", *, owner: str = "") -> list[Definition]:
    """Functions and methods with a placeholder for a body; with `owner`, those of this class alone.

    Each by its last definition, which is the one that counts; a property's setter counts separately from its getter.
    Abstract methods, overloads and methods of protocols stay as they are, so they are none. `path` is a cache key.
    """
    protocols = _protocols(text, path)
    return [
        each for each in _functions(text, path, owner) if not _is_left_open(each, protocols) and _is_stub(each, text)
    ]


def left_open_functions(text: str, path: str = "") -> list[Definition]:
    """The functions with a placeholder for a body that stay so: abstract methods, overloads, methods of protocols."""
    protocols = _protocols(text, path)
    return [each for each in _functions(text, path) if _is_left_open(each, protocols) and _is_stub(each, text)]


def _functions(text: str, path: str, owner: str = "") -> Iterable[Definition]:
    inside = f"{owner}." if owner else ""
    listed = find_definitions(text, path)
    functions = [each for each in listed if each.kind == "function" and each.qualname.startswith(inside)]
    # A property's getter, setter and deleter have one name.
    accessors = [[found[1] for mark in each.decorators if (found := _ACCESSOR_NAME.match(mark))] for each in functions]
    return {(each.qualname, *found[:1]): each for each, found in zip(functions, accessors, strict=True)}.values()


def _is_stub(function: Definition, text: str) -> bool:
    return is_unwritten(line_span(text, function.start, function.end))


def _protocols(text: str, path: str) -> set[str]:
    listed = find_definitions(text, path)
    return {each.qualname for each in listed if any(_PROTOCOL.match(base) for base in each.bases)}


def _is_left_open(function: Definition, protocols: set[str]) -> bool:
    return function.owner in protocols or any(_LEFT_OPEN.match(mark) for mark in function.decorators)
