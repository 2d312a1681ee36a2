"""Finds other tests of the target's file that fail for the same cause.

It must not know how that cause is removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from greenloop.core.python.test_functions import function_of
from greenloop_sandbox import CaseResult, Failure


def same_cause(
    targets: Iterable[CaseResult], others: Iterable[CaseResult], is_test: Callable[[str], bool]
) -> list[CaseResult]:
    """Returns the failing cases that seem to fail as one of the target's does; `is_test` tells paths of tests.

    They were raised in the same line of the project, or of their own test function (other parameters); failures in a
    helper of the tests must have the same difference, too.
    """
    causes = {_cause(case, is_test) for case in targets if case.failure and not case.passed} - {None}
    return [case for case in others if case.failure and not case.passed and _cause(case, is_test) in causes]


def _cause(case: CaseResult, is_test: Callable[[str], bool]) -> object:
    failure = case.failure
    frames = [frame for frame in failure.frames if not frame.path.startswith(("/", "<"))] if failure else []
    if failure is None or not frames:
        return None
    last = frames[-1]
    place = (failure.type, last.path, last.line)
    if not is_test(last.path):
        return place
    own = function_of(case.id).rpartition("::")[2]
    if last.function.rpartition(".")[2] == own:
        return (*place, own)
    return (*place, _difference(failure))


def _difference(failure: Failure) -> str:
    """Returns the difference that a failure shows, without the values that every case has of its own."""
    rows = [row for row in failure.message.split("\n") if re.match(r"\s*[-+?] ", row)]
    return "\n".join(rows) or failure.message.split("\n")[0]
