"""Methods as the tests use them: with a `self`, and a property where they are read and not called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, parse_fragment
from greenloop.core.python.parameters import parameter_nodes
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import Change, Edit, Kind, change_of, insert_before, shown_by

_TOO_MANY = re.compile(r"(?:^|: )(?:[\w.<>]+\.)?(\w+)\(\) takes \d+ positional arguments? but \d+ (?:was|were) given")
_NOT_CALLED = re.compile(r"<bound method (?:[\w.<>]+\.)?(\w+) of")


def method_access(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields the change of a method that the failures name: a `self` before its parameters, or `@property`."""
    failures = [case.failure for case in attempt.verdict.cases if case.failure]
    shown = shown_by(attempt)
    surplus = {match for each in failures for match in _TOO_MANY.findall(each.message)}
    parsed = parse_fragment(text) if surplus or _NOT_CALLED.search(shown) else None
    function = parsed.body[0] if isinstance(parsed, Fragment) and parsed.shift else None
    if not isinstance(parsed, Fragment) or not isinstance(function, FUNCTIONS) or function.decorator_list:
        return
    parameters = parameter_nodes(function)
    if function.name in surplus and (not parameters or parameters[0].arg not in ("self", "cls")):
        row = parsed.lines[function.lineno - 1].encode()
        place = row.index(b"(", function.col_offset) + 1
        new = "self, " if parameters else "self"
        yield change_of(parsed, [Edit(line=function.lineno, start=place, end=place, new=new)], Kind.SLIP)
    if function.name in _NOT_CALLED.findall(shown) and len(parameters) == 1:
        indent = parsed.lines[function.lineno - 1][: function.col_offset]
        yield change_of(parsed, [insert_before(function, f"@property\n{indent}")], Kind.SLIP)
