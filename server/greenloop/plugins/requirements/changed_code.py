"""Finds the code in a composed file that is the candidate's: its regions and what the module gained.

Everything else is the user's own. It compares whole texts before and after, and must not know how candidates are made.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from greenloop.core.python.ast_source import (
    DEFINITIONS,
    FUNCTIONS,
    Definition,
    Function,
    dump_tree,
    find_definitions,
    parse_module,
    plain_name,
    start_line,
)
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends


@dataclass(frozen=True, kw_only=True)
class ChangedCode:
    """The candidate's code in one region. `text` is the composed file, `module` its syntax tree.

    `original_text` is the user's own file, `original_node` their own definition; `changed_node` is the candidate's,
    None where it is unchanged; `added_statements` are the ones that the file gained.
    """

    region: Region
    text: str
    module: ast.Module
    original_text: str
    original_node: Definition | None
    changed_node: Definition | None
    added_statements: tuple[ast.stmt, ...]

    @property
    def checked_nodes(self) -> tuple[ast.stmt, ...]:
        return (*((self.changed_node,) if self.changed_node else ()), *self.added_statements)

    def functions(self) -> Iterator[tuple[str, Function]]:
        """The functions to check, each with a name for use in a sentence; a class yields its methods."""
        changed = self.changed_node
        if isinstance(changed, FUNCTIONS):
            yield "The function", changed
        for item in (*((changed,) if isinstance(changed, ast.ClassDef) else ()), *self.added_statements):
            if isinstance(item, FUNCTIONS):
                yield f"The helper `{item.name}`", item
            elif isinstance(item, ast.ClassDef):
                for name, node in find_definitions(item.body, f"{item.name}."):
                    if isinstance(node, FUNCTIONS):
                        yield f"The method `{name}`", node


def find_changed_code(problem: Problem, region: Region, files: Mapping[str, str]) -> ChangedCode | None:
    """Finds a region's changes in the composed texts; None where its file does not parse or no longer defines it."""
    old_text = with_plain_ends(problem.files[region.path])
    text = with_plain_ends(files.get(region.path, old_text))
    old_tree, new_tree = parse_module(old_text), parse_module(text)
    if isinstance(new_tree, SyntaxError):
        return None
    original_body = [] if isinstance(old_tree, SyntaxError) else old_tree.body
    regions = [each for each in problem.regions if each.path == region.path]
    definitions_of = {each: _nodes(original_body, old_text, new_tree.body, each) for each in regions}
    original_node, changed_node = definitions_of[region]
    if changed_node is None:
        return None
    kept_ids = {id(new) for _old, new in definitions_of.values() if new is not None}
    unchanged = original_node is not None and dump_tree(original_node) == dump_tree(changed_node)
    return ChangedCode(
        region=region,
        text=text,
        module=new_tree,
        original_text=old_text,
        original_node=original_node,
        changed_node=None if unchanged and not region.created else changed_node,
        added_statements=tuple(_added_statements(original_body, new_tree.body, kept_ids)),
    )


def _nodes(
    old: Sequence[ast.stmt], text: str, new: Sequence[ast.stmt], region: Region
) -> tuple[Definition | None, Definition | None]:
    """The region before and after; among several definitions of one name (overloads), the one at the same position."""
    name, lines = plain_name(region.qualname), text.split("\n")
    old_nodes = [node for qualname, node in find_definitions(old) if qualname == name]
    new_nodes = [node for qualname, node in find_definitions(new) if qualname == name]
    position = next(
        (n for n, node in enumerate(old_nodes) if region.start <= start_line(node, lines) <= region.end), None
    )
    old_node = old_nodes[position] if position is not None else None
    if not new_nodes:
        return old_node, None
    return old_node, new_nodes[min(position, len(new_nodes) - 1)] if position is not None else new_nodes[-1]


def _added_statements(
    before: Sequence[ast.stmt], after: Sequence[ast.stmt], region_node_ids: set[int]
) -> Iterator[ast.stmt]:
    """Yields the new statements; for a class that contains a region, the new statements inside it."""
    known_dumps = Counter(dump_tree(node) for node in before)
    for node in after:
        node_dump = dump_tree(node)
        if id(node) in region_node_ids or known_dumps[node_dump] > 0:
            known_dumps[node_dump] -= 1
            continue
        inner = find_definitions(node.body) if isinstance(node, DEFINITIONS) else ()
        if isinstance(node, DEFINITIONS) and any(id(each) in region_node_ids for _name, each in inner):
            old_bodies = (item.body for item in before if isinstance(item, DEFINITIONS) and item.name == node.name)
            yield from _added_statements(next(old_bodies, []), node.body, region_node_ids)
        else:
            yield node
