"""Assignments of a module and of its classes: tables, regular expressions, defaults, class attributes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, parse_module, statement_blocks
from greenloop.core.python.names import bound_names, parsable_prefix
from greenloop.core.text.diff import with_plain_ends

Assignment = ast.Assign | ast.AnnAssign


def find_assignments(source: Fragment) -> dict[str, Assignment]:
    """The assignments by qualified name (`TABLE`, `Config.limit`), in source order.

    Only names that one statement binds, which has its lines to itself; names of functions' own scopes are no part.
    """
    statements = list(_statements(source.body))
    counts = Counter(prefix + name for prefix, node in statements for name in bound_names(node))
    return {
        prefix + name: node
        for prefix, node in statements
        if isinstance(node, Assignment) and has_lines_to_itself(node, source.lines)
        for name in assigned_names(node)
        if counts[prefix + name] == 1
    }


def assignments_in(text: str) -> dict[str, Assignment]:
    """The assignments of a file by qualified name; none where it cannot be parsed."""
    text = with_plain_ends(text)
    module = parse_module(text)
    body = tuple(module.body) if isinstance(module, ast.Module) else ()
    return find_assignments(Fragment(lines=tuple(text.split("\n")), body=body))


def field_rows(text: str, owner: str, *, longest: int, most: int) -> list[str]:
    """The lines of the class attributes of a class, by its qualified name, that have at most `longest` lines each."""
    rows = with_plain_ends(text).split("\n")
    module = parse_module("\n".join(rows))
    body = (module if isinstance(module, ast.Module) else parsable_prefix(text)).body
    fields = [
        node
        for prefix, node in _statements(body)
        if prefix == f"{owner}." and isinstance(node, Assignment) and (node.end_lineno or 0) - node.lineno < longest
    ]
    return [row.rstrip() for node in fields[:most] for row in rows[node.lineno - 1 : node.end_lineno]]


def assigned_names(node: Assignment) -> list[str]:
    """The names that the statement assigns one value; none for an annotation without a value, or for parts of one."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if node.value is not None and len(names) == len(targets) else []


def _statements(body: Sequence[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """Yields each simple statement and definition of a module and its classes, with the names of the classes.

    Loops over names count as statements too.
    """
    for node in body:
        blocks = [] if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else list(statement_blocks(node))
        if not blocks:
            yield prefix, node
        if isinstance(node, ast.For):
            yield prefix, ast.Expr(value=node.target)
        if isinstance(node, ast.ClassDef):
            yield from _statements(node.body, f"{prefix}{node.name}.")
        for block in blocks:
            yield from _statements(block, prefix)


def has_lines_to_itself(node: ast.stmt, lines: Sequence[str]) -> bool:
    """Does no other statement begin or end in the lines of this one?"""
    last = (node.end_lineno or node.lineno) - 1
    before = lines[node.lineno - 1].encode()[: node.col_offset]
    after = lines[last].encode()[node.end_col_offset :].strip()
    return not before.strip() and (not after or after.startswith(b"#"))
