"""Names that nobody knows, in place of which the failures of an attempt say what was meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import Change, Edit, Kind, change_of

_NAMED = re.compile(
    r"(?:has no attribute|^name) '(\w+)'(?: is not defined)?.*\. Did you mean: '([\w.]+)'\?$", re.DOTALL
)


def misspelled_names(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields a change for each such name: corrected everywhere, then in one place alone."""
    meant = corrected_names(attempt)
    parsed = parse_fragment(text) if meant else None
    if not isinstance(parsed, Fragment):
        return
    for wrong, right in meant.items():
        nodes = [
            node for item in parsed.body for node in ast.walk(item) if "." not in right or isinstance(node, ast.Name)
        ]
        ends = sorted(end for node in nodes for end in _end_of_name(node, wrong))
        edits = [Edit(line=line, start=end - len(wrong.encode()), end=end, new=right) for line, end in ends]
        yield from [change_of(parsed, edits, Kind.SLIP)] if edits else ()
        yield from (change_of(parsed, [edit], Kind.SLIP) for edit in edits if len(edits) > 1)


def corrected_names(attempt: Attempt) -> dict[str, str]:
    """The names that were meant by the unknown ones, in the order of the attempt's failures."""
    messages = [case.failure.message for case in attempt.verdict.cases if case.failure]
    return {match[1]: match[2] for message in messages if (match := _NAMED.search(message))}


def _end_of_name(node: ast.AST, name: str) -> Iterator[tuple[int, int]]:
    """Where a node that is this name, or has it as an attribute, ends: the line, and the column in bytes."""
    if (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name):
        yield node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
