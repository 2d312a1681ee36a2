"""Names in place of which a failure says what to use: of packages that were upgraded, and of warnings as errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import Change, Edit, Kind, change_of, replace_node

# "`np.alltrue` was removed in the NumPy 2.0 release. Use `np.all` instead.", "'H' is deprecated ... use 'h' instead",
# "simps is deprecated in favour of simpson", "the argument 'missing' was renamed to 'load_default'"
_NAME = r"[`'\"]?(?P<{}>[A-Za-z_][\w.]*\w|[A-Za-z_])(?:\(\))?[`'\"]?"
_GONE = r"(?=(?:\w+ ){0,4}(?:removed|deprecated|renamed|replaced|no longer|gone|obsolete)\b)"
_INSTEAD = r"(?:\b[Uu]se|\brenamed to|\breplaced (?:by|with)|\bin favou?r of)\s+(?:the )?(?:\w+ )??"
_SUCCESSOR = re.compile(_NAME.format("old") + " " + _GONE + r"[^\n]{0,120}?" + _INSTEAD + _NAME.format("new"))
MOST = 3  # failures' messages that are read


def replaced_names(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields the function with the new name everywhere, as it is written there."""
    successors = find_successors(attempt)
    parsed = parse_fragment(text) if successors else None
    if not isinstance(parsed, Fragment):
        return
    nodes = [node for statement in parsed.body for node in ast.walk(statement)]
    for old, new in successors:
        is_moved = old.rpartition(".")[2] == new.rpartition(".")[2]
        edits = (_dotted_names if is_moved else _last_parts)(nodes, old, new)
        imports = (f"import {new.rpartition('.')[0]}",) if is_moved else ()
        if edits:
            yield replace(change_of(parsed, edits, Kind.SLIP), imports=imports)


def find_successors(attempt: Attempt) -> list[tuple[str, str]]:
    """Pairs each removed name with its replacement, as the failures write them."""
    messages = dict.fromkeys(case.failure.message for case in attempt.verdict.cases if case.failure)
    matches = [match for message in list(messages)[:MOST] for match in _SUCCESSOR.finditer(message)]
    return [pair for match in matches if (pair := (match["old"], match["new"]))[0] != pair[1]]


def _last_parts(nodes: list[ast.AST], old: str, new: str) -> list[Edit]:
    """The last parts of the names exchanged: in attributes, names, keywords, and texts that are the old name."""
    was, is_now = old.rpartition(".")[2], new.rpartition(".")[2]
    edits = []
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == was:
            end = node.end_col_offset or 0
            edits.append(Edit(line=node.end_lineno or 0, start=end - len(was.encode()), end=end, new=is_now))
        elif isinstance(node, ast.keyword) and node.arg == was:
            start = node.col_offset
            edits.append(Edit(line=node.lineno, start=start, end=start + len(was.encode()), new=is_now))
        elif isinstance(node, ast.Name) and node.id == was:
            edits.append(replace_node(node, is_now))
        elif isinstance(node, ast.Constant) and node.value == old:
            edits.append(replace_node(node, repr(new)))
    return edits


def _dotted_names(nodes: list[ast.AST], old: str, new: str) -> list[Edit]:
    """The name of something that has moved to another module, as a whole."""
    if "." not in new:
        return []
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    return [replace_node(node, new) for node in attributes if f".{old}".endswith(f".{ast.unparse(node)}")]
