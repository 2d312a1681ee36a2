"""A statement one level further out or in, or before the one that it follows.

Out of a block goes its last statement, into it the one that follows the block.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from greenloop.core.python.ast_source import DEFINITIONS, FUNCTIONS, Fragment, parse_fragment, statement_blocks
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import Change, ChangeKind, Edit, change_of

_BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith)
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_FIXED = (*_LEAVES, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, *DEFINITIONS)
_SIMPLE = (ast.Return, ast.Assign, ast.AugAssign, ast.Expr, ast.Break, ast.Continue, ast.Raise)


def moved_statements(text: str, _attempt: Attempt) -> Iterator[Change]:
    """Yields the changes of a function that move one statement on one line by a level, or exchange two."""
    parsed = parse_fragment(text)
    if not isinstance(parsed, Fragment):
        return
    functions = [node for item in parsed.body for node in ast.walk(item) if isinstance(node, FUNCTIONS)]
    for node in ast.walk(functions[0]) if functions else ():
        for block in statement_blocks(node):
            yield from (change_of(parsed, [edit], ChangeKind.SYMBOL) for edit in _moves(block, parsed))
            yield from (change_of(parsed, [edit], ChangeKind.ORDER) for edit in _exchanges(block, parsed))


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


def _exchanges(block: Sequence[ast.stmt], parsed: Fragment) -> Iterator[Edit]:
    """Edits that exchange neighbours which have a name in common: without one, their order hardly matters."""
    for first, second in pairwise(block):
        if any(isinstance(each, _FIXED) or _shares_a_line(each, parsed) for each in (first, second)):
            continue
        names = ({node.id for node in ast.walk(each) if isinstance(node, ast.Name)} for each in (first, second))
        if set.intersection(*names):
            start, middle = first.end_lineno or first.lineno, second.lineno - 1
            end = second.end_lineno or second.lineno
            rows = [*parsed.lines[middle:end], *parsed.lines[start:middle], *parsed.lines[first.lineno - 1 : start]]
            last = len(parsed.lines[end - 1].encode())
            yield Edit(line=first.lineno, end_line=end, end=last, new="\n".join(rows))


def _shares_a_line(statement: ast.stmt, parsed: Fragment) -> bool:
    before = parsed.lines[statement.lineno - 1].encode()[: statement.col_offset]
    after = parsed.lines[(statement.end_lineno or statement.lineno) - 1].encode()[statement.end_col_offset :]
    return bool(before.strip()) or after.lstrip()[:1] == b";"


def _may_move(statement: ast.stmt, before: str) -> bool:
    """Whether it stands alone on its line."""
    return isinstance(statement, _SIMPLE) and statement.lineno == statement.end_lineno and not before.strip()
