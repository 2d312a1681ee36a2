"""Names that nobody knows, in place of which the failures of an attempt say what was meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.records.attempt import Attempt

_NAMED = re.compile(r"(?:has no attribute|^name) '(\w+)'(?: is not defined)?.*\. Did you mean: '(\w+)'\?$", re.DOTALL)


def corrected_names(attempt: Attempt) -> dict[str, str]:
    """The names that were meant by the unknown ones, in the order of the attempt's failures."""
    messages = [case.failure.message for case in attempt.verdict.cases if case.failure]
    return {match[1]: match[2] for message in messages if (match := _NAMED.search(message))}


def corrections(text: str, meant: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yields the first changed line and the new text, for each name: changed everywhere, then in one place alone."""
    parsed = parse_fragment(text) if meant else None
    if not isinstance(parsed, Fragment):
        return
    rows = [line.encode() for line in parsed.lines]
    for wrong, right in meant.items():
        ends = sorted(end for item in parsed.body for node in ast.walk(item) for end in _end_of_name(node, wrong))
        for chosen in dict.fromkeys([tuple(ends), *((end,) for end in ends)] if ends else []):
            changed = list(rows)
            for line, column in reversed(chosen):
                row = changed[line - 1]
                changed[line - 1] = row[: column - len(wrong.encode())] + right.encode() + row[column:]
            yield chosen[0][0] - parsed.shift, b"\n".join(changed[parsed.shift :]).decode()


def _end_of_name(node: ast.AST, name: str) -> Iterator[tuple[int, int]]:
    """Where a node that is this name, or has it as an attribute, ends: the line, and the column in bytes."""
    if (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name):
        yield node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
