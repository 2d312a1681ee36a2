"""Functions and methods as the tests use them: with a `self`, without one, as a property, with arguments by place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, Function, parse_fragment
from greenloop.core.python.parameters import parameter_nodes
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    Edit,
    Kind,
    change_of,
    insert_before,
    replace_node,
    shown_by,
    source_of,
)

_TOO_MANY = re.compile(r"(?:^|: )(?:[\w.<>]+\.)?(\w+)\(\) takes \d+ positional arguments? but \d+ (?:was|were) given")
_MISSING = re.compile(r"(?:[\w.<>]+\.)?(\w+)\(\) missing \d+ required positional arguments?: ")
_NOT_CALLED = re.compile(r"<bound method (?:[\w.<>]+\.)?(\w+) of")


def method_access(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields the changes of a function that the failures name.

    A method gets a `self` before its parameters, `@staticmethod`, `@classmethod` where the first is `cls`, or
    `@property`; a property that reads itself reads `_name`; and `*` no longer asks for arguments by name.
    """
    shown = shown_by(attempt)
    parsed = parse_fragment(text)
    function = parsed.body[0] if isinstance(parsed, Fragment) and parsed.body else None
    if not isinstance(parsed, Fragment) or not isinstance(function, FUNCTIONS):
        return
    decorators = [source_of(each, parsed) for each in function.decorator_list]
    surplus, missing, not_called = (function.name in each.findall(shown) for each in (_TOO_MANY, _MISSING, _NOT_CALLED))
    if surplus and function.args.kwonlyargs and function.args.vararg is None:
        yield from _by_place(parsed, function)
    if decorators == ["property"] and "RecursionError" in {
        case.failure.type for case in attempt.verdict.cases if case.failure
    }:
        reads = [node for node in ast.walk(function) if isinstance(node, ast.Attribute) and node.attr == function.name]
        if edits := [replace_node(node, f"{source_of(node.value, parsed)}._{function.name}") for node in reads]:
            yield change_of(parsed, edits, Kind.SLIP)
    if decorators or not parsed.shift:
        return
    names = [each.arg for each in parameter_nodes(function)]
    indent = parsed.lines[function.lineno - 1][: function.col_offset]
    if surplus and names[:1] not in (["self"], ["cls"]):
        row = parsed.lines[function.lineno - 1].encode()
        place = row.index(b"(", function.col_offset) + 1
        new = "self, " if names else "self"
        yield change_of(parsed, [Edit(line=function.lineno, start=place, end=place, new=new)], Kind.SLIP)
    wanted = ["@staticmethod"] if surplus and names[:1] != ["self"] else []
    wanted = ["@classmethod"] if (surplus or missing) and names[:1] == ["cls"] else wanted
    wanted += ["@property"] if not_called and len(names) == 1 else []
    yield from (change_of(parsed, [insert_before(function, f"{each}\n{indent}")], Kind.SLIP) for each in wanted)


def _by_place(parsed: Fragment, function: Function) -> Iterator[Change]:
    first = function.args.kwonlyargs[0]
    row = parsed.lines[first.lineno - 1].encode()
    star = re.search(rb"\*\s*,\s*$", row[: first.col_offset])
    if star is not None:
        yield change_of(parsed, [Edit(line=first.lineno, start=star.start(), end=first.col_offset)], Kind.SLIP)
