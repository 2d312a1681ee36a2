"""A statement one level further out or in.

Out of a block goes its last statement, into it the one that follows the block.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, parse_fragment, statement_blocks
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import Change, ChangeKind, Edit, change_of

_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith)
_SIMPLE = (ast.Return, ast.Assign, ast.AugAssign, ast.Expr, ast.Break, ast.Continue, ast.Raise)


def moved_statements(text: str, _attempt: Attempt) -> Iterator[Change]:
    """Yields the changes of a function that move one statement on one line by a level."""
    parsed = parse_fragment(text)
    if not isinstance(parsed, Fragment):
        return
    functions = [node for item in parsed.body for node in ast.walk(item) if isinstance(node, FUNCTIONS)]
    for node in ast.walk(functions[0]) if functions else ():
        for block in statement_blocks(node):
            yield from (change_of(parsed, [edit], ChangeKind.SYMBOL) for edit in _moves(block, parsed))


def _moves(block: Sequence[ast.stmt], parsed: Fragment) -> Iterator[Edit]:
    for outer, after in zip(block, [*block[1:], None], strict=False):
        if not isinstance(outer, _BLOCKS) or outer.lineno == outer.body[0].lineno:
            continue
        last = outer.orelse or outer.body if not isinstance(outer, ast.With | ast.AsyncWith) else outer.body
        here, inner = (parsed.lines[each.lineno - 1][: each.col_offset] for each in (outer, last[-1]))
        if len(last) > 1 and _may_move(last[-1], inner):
            yield Edit(line=last[-1].lineno, end=len(inner), new=here)
        if after is not None and _may_move(after, here) and not inner.strip():
            yield Edit(line=after.lineno, end=len(here), new=inner)


def _may_move(statement: ast.stmt, before: str) -> bool:
    """True if it stands alone on its line."""
    return isinstance(statement, _SIMPLE) and statement.lineno == statement.end_lineno and not before.strip()
