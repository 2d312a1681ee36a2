"""Python source as it stands in an editor: its lines and its definitions, found by tree-sitter also in broken files.

It knows texts only: no files, no workspace, no tests. Line numbers are 1-based and inclusive, decorators included.
A function inside a function has no address of its own: it belongs to the outermost function around it.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from greenloop.grammar import BLOCKS, Node, normalised, parse, text_of
from greenloop.grammar import Definition as Definition  # noqa: PLC0414 - what this module gives
from greenloop.grammar import lines as lines  # noqa: PLC0414 - as above
from greenloop.outline import Outline as Outline  # noqa: PLC0414 - as above
from greenloop.outline import whole

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


def words(text: str) -> set[str]:
    """Everything in the text that could be a name."""
    return set(_NAME.findall(text))


def span(text: str, start: int, end: int) -> str:
    """Lines `start`..`end` of the text, 1-based and inclusive."""
    return "".join(lines(text)[start - 1 : end])


_kept: OrderedDict[str, Outline] = OrderedDict()


def definitions(text: str, path: str = "") -> tuple[Definition, ...]:
    """Every addressable definition in the order of the text.

    `path` is a key only: the newest text of each path is kept in parsed pieces, so that the next one, a keystroke
    later, costs the parse of the piece that changed.
    """
    return outline(text, path).definitions


def outline(text: str, path: str = "") -> Outline:
    """What `definitions` are taken from, for those who want few of them; `path` as there."""
    with _LOCK:
        kept = _kept.get(path)
        if kept is None:
            kept = whole(text)
        elif kept.text != text:
            kept = kept.changed(text)
        _kept[path] = kept
        _kept.move_to_end(path)
        if len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
        return kept


def bindings(text: str) -> tuple[Binding, ...]:
    """The imports and assignments at the top level, also those inside `if` and `try`, in the order of the text."""
    return tuple(_bindings(parse(normalised(text)).children))


def enclosing(text: str, line: int, path: str = "") -> Definition | None:
    """The innermost addressable definition at a line."""
    return outline(text, path).at(line)


def lookup(found: Sequence[Definition], qualname: str) -> Definition | None:
    """The definition a name means at run time: the last one, but a property's getter, and neither overloads nor
    what only type checkers see while there is anything else.
    """
    same = [definition for definition in found if definition.qualname == qualname]
    real = [item for item in same if not item.typing_only and not is_overload(item)]
    same = real or same
    if not same:
        return None
    return same[0] if any(_ACCESSOR.search(d) for d in same[-1].decorators) else same[-1]


def is_overload(definition: Definition) -> bool:
    """Is it a signature for type checkers only?"""
    return any(_OVERLOAD.fullmatch(mark) for mark in definition.decorators)


_OVERLOAD = re.compile(r"(?:\w+\.)*overload")
_ACCESSOR = re.compile(r"\.(?:setter|getter|deleter|register)\b")


def _bindings(nodes: Sequence[Node]) -> Iterator[Binding]:
    for node in nodes:
        if node.type in BLOCKS:
            yield from _bindings(node.children)
        elif node.type in {"import_statement", "import_from_statement", "future_import_statement"}:
            taken = node.children_by_field_name("name")
            names = tuple(_imported(child, whole=node.type == "import_from_statement") for child in taken) or ("*",)
            yield _binding("import", names, node)
        elif node.type == "expression_statement" and node.children and node.children[0].type in _ASSIGNING:
            left = node.children[0].child_by_field_name("left")
            if left is not None and left.type in {"identifier", "pattern_list", "tuple_pattern", "list_pattern"}:
                yield _binding("assignment", tuple(_NAME.findall(text_of(left))), node)
        elif node.type == "type_alias_statement":
            yield _binding("assignment", tuple(_NAME.findall(text_of(node.named_children[0]))[:1]), node)


_ASSIGNING = {"assignment", "augmented_assignment"}


def _imported(node: Node, *, whole: bool) -> str:
    if node.type == "aliased_import":
        alias = node.child_by_field_name("alias")
        return text_of(alias) if alias is not None else ""
    return text_of(node) if whole else text_of(node).partition(".")[0]


def _binding(kind: Literal["import", "assignment"], names: tuple[str, ...], node: Node) -> Binding:
    return Binding(kind=kind, names=names, start=node.start_point[0] + 1, end=node.end_point[0] + 1)
