"""Decorators of slips: each makes changes of a text that is a function, or that can be parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps

from greenloop.core.python.ast_source import Fragment, Function, parse_fragment
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import Change, ChangeKind, Edit, change_of, parse_function

Make = Callable[[str, Attempt], Iterator[Change]]
"""Makes the changes of a region's text, for which there is the attempt that failed."""

Slip = Change | Sequence[Edit]
"""Edits that are tried together, or the change that they make."""


def function_slip(make: Callable[[Fragment, Function, Attempt], Iterator[Slip]]) -> Make:
    """Makes the changes of a text that is a function; none of any other."""

    @wraps(make)
    def changes(text: str, attempt: Attempt) -> Iterator[Change]:
        if (found := parse_function(text)) is not None:
            yield from _changes(found[0], make(*found, attempt))

    return changes


def fragment_slip(make: Callable[[Fragment, Attempt], Iterator[Slip]]) -> Make:
    """Makes the changes of a text that can be parsed; none of any other."""

    @wraps(make)
    def changes(text: str, attempt: Attempt) -> Iterator[Change]:
        if isinstance(parsed := parse_fragment(text), Fragment):
            yield from _changes(parsed, make(parsed, attempt))

    return changes


def _changes(parsed: Fragment, slips: Iterator[Slip]) -> Iterator[Change]:
    for each in slips:
        if isinstance(each, Change):
            yield each
        elif each:
            yield change_of(parsed, each, ChangeKind.SLIP)


def shown_by(attempt: Attempt) -> str:
    """Returns the failures' messages and observations; of each message the first line, as others show code that ran."""
    failures = [case.failure for case in attempt.verdict.cases if case.failure]
    return "\n".join(line for each in failures for line in (each.message.partition("\n")[0], each.observed or ""))
