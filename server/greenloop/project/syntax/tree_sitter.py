"""Extracts definitions from tree-sitter's tree of a text without syntax errors.

This module must not know of broken texts, nor of what was parsed before. Line numbers are 1-based and inclusive.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import tree_sitter
import tree_sitter_python

Node = tree_sitter.Node

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))

# Statements that contain definitions without changing their qualified names.
BLOCKS = {
    "block", "if_statement", "elif_clause", "else_clause", "try_statement", "except_clause", "except_group_clause",
    "finally_clause", "with_statement", "for_statement", "while_statement", "match_statement", "case_clause",
}  # fmt: skip
_NESTING = BLOCKS | {"function_definition", "class_definition", "decorated_definition"}
_TYPING = re.compile(rb"(?:typing\.|t\.)?TYPE_CHECKING")


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A function, method or class that can be named from outside.

    `qualname` joins names by dots; `header_end` is the last line of the header (that of its colon);
    `bases` are a class's bases as written; `decorators` are as written, without `@`;
    `docstring` is its first and last line; `has_examples`: it contains `>>>`;
    `typing_only`: it is defined under `if TYPE_CHECKING:`.
    """

    kind: Literal["class", "function"]
    name: str
    qualname: str
    start: int
    end: int
    name_line: int
    header_end: int
    bases: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    docstring: tuple[int, int] | None = None
    examples: bool = False
    typing_only: bool = False
    asynchronous: bool = False

    @property
    def owner(self) -> str:
        """Qualified name of the enclosing class; empty at top level."""
        return self.qualname.rpartition(".")[0]


def split_lines(text: str) -> list[str]:
    """The lines with their endings. Unlike `str.splitlines`, splits only where Python itself does."""
    return list(io.StringIO(text, newline=""))


def normalize_text(text: str) -> str:
    r"""The text without a byte order mark and with `\n` line endings."""
    # The parser fails on a byte order mark, which some editors pass on.
    text = text.removeprefix("\ufeff")
    # tree-sitter takes only \n for a line ending; for Python and editors a lone \r is one too.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def parse(normal: str) -> tree_sitter.Node:
    return _PARSER.parse(normal.encode("utf-8", "replace")).root_node


def definitions_in_tree(nodes: Sequence[tree_sitter.Node], prefix: str, *, typing_only: bool) -> Iterator[Definition]:
    """The definitions in these nodes and their blocks, with `prefix` before their qualified names."""
    for node in nodes:
        kind = node.type
        if kind in {"function_definition", "class_definition"}:
            yield from _definition(node, node, (), prefix, typing_only=typing_only)
        elif kind == "decorated_definition":
            definition = node.child_by_field_name("definition")
            if definition is not None:
                decorators = tuple(node_text(child)[1:].strip() for child in node.children if child.type == "decorator")
                yield from _definition(definition, node, decorators, prefix, typing_only=typing_only)
        elif kind in BLOCKS:
            condition = node.child_by_field_name("condition") if kind == "if_statement" else None
            is_typing = condition is not None and _TYPING.fullmatch(condition.text or b"") is not None
            for child in node.children:
                is_skipped = typing_only or (is_typing and child.type == "block")
                yield from definitions_in_tree([child], prefix, typing_only=is_skipped)


def _definition(
    node: tree_sitter.Node, outer: tree_sitter.Node, decorators: tuple[str, ...], prefix: str, *, typing_only: bool
) -> Iterator[Definition]:
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if name is None or body is None:
        return
    is_class = node.type == "class_definition"
    superclasses = node.child_by_field_name("superclasses") if is_class else None
    qualname = prefix + node_text(name)
    docstring = _docstring(body)
    yield Definition(
        kind="class" if is_class else "function",
        name=node_text(name),
        qualname=qualname,
        start=outer.start_point[0] + 1,
        end=last_line(node),
        name_line=name.start_point[0] + 1,
        header_end=_colon(node, body),
        bases=tuple(node_text(child) for child in superclasses.named_children) if superclasses is not None else (),
        decorators=decorators,
        docstring=(docstring.start_point[0] + 1, docstring.end_point[0] + 1) if docstring else None,
        examples=docstring is not None and b">>>" in (docstring.text or b""),
        typing_only=typing_only,
        asynchronous=node.children[0].type == "async",
    )
    if is_class:
        yield from definitions_in_tree(body.children, f"{qualname}.", typing_only=typing_only)


def node_text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def last_line(node: tree_sitter.Node) -> int:
    """The last line of a node."""
    # As in `ast`, comments after the last statement do not belong to it: find the last real child.
    while node.type in _NESTING:
        real_children = (
            child for child in reversed(node.children) if child.type != "comment" and child.end_byte > child.start_byte
        )
        last_child = next(real_children, None)
        if last_child is None:
            break
        node = last_child
    row, column = node.end_point
    return row + 1 if column or row == node.start_point[0] else row


def _colon(node: tree_sitter.Node, body: tree_sitter.Node) -> int:
    for child in reversed(node.children):
        if child.type == ":":
            return child.start_point[0] + 1
    return body.start_point[0] + 1


def _docstring(body: tree_sitter.Node) -> tree_sitter.Node | None:
    for child in body.children:
        if child.type == "comment":
            continue
        if child.type == "expression_statement" and child.children:
            string = child.children[0]
            if string.type in {"string", "concatenated_string"} and len(child.children) == 1:
                return string
        return None
    return None
