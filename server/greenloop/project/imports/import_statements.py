"""Statements that import, rewritten in their place so that layout and comments stay."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def with_names(
    rows: Sequence[str],
    node: ast.Import | ast.ImportFrom,
    aliases: Sequence[tuple[ast.alias, str]],
    removed: Sequence[ast.alias],
) -> str:
    """The lines of a statement with other names for these aliases, and without the removed ones."""
    changed = [row.encode() for row in rows]
    for alias, right in sorted(aliases, key=lambda each: (each[0].lineno, each[0].col_offset), reverse=True):
        at, start = alias.lineno - node.lineno, alias.col_offset
        row = changed[at]
        changed[at] = row[:start] + right.encode() + row[start + len(alias.name.encode()) :]
    if not removed:
        return b"\n".join(changed).decode() + "\n"
    kept = [each for each in node.names if each not in removed]
    lines = {each.lineno for each in removed}
    if not kept:
        return ""
    if lines.isdisjoint({node.lineno, node.end_lineno, *(each.lineno for each in kept)}):
        return b"\n".join(row for at, row in enumerate(changed) if at + node.lineno not in lines).decode() + "\n"
    spelled = {id(alias): right for alias, right in aliases}
    names = [ast.alias(name=spelled.get(id(each), each.name), asname=each.asname) for each in kept]
    module, level = (node.module, node.level) if isinstance(node, ast.ImportFrom) else (None, 0)
    tail = changed[-1][node.end_col_offset :].decode().rstrip()
    statement = ast.unparse(ast.ImportFrom(module=module, names=names, level=level))
    return f"{rows[0][: node.col_offset]}{statement}{tail}\n"
