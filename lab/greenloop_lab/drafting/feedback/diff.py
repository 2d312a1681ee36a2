"""Shows expected and observed value with their first difference, for each failing case."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback._value_diff import first_difference, shorten
from greenloop_sandbox import CaseResult, Failure

MOST = 4  # cases described in full; the rest are counted
TEXT = 20_000  # characters of the runner's text that are searched


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The expected and the observed value of each failing case of the newest attempt."""
    return FeedbackNote(text=describe_newest(problem, attempts, _failing))


def _failing(problem: Problem, attempt: Attempt) -> str:  # noqa: ARG001 - the signature that all describers share
    verdict = attempt.verdict
    failing = verdict.failing
    pieces = [shorten(verdict.reason)] if verdict.reason else []
    pieces += [_case(case) for case in failing[:MOST]]
    if len(failing) > MOST:
        pieces.append(f"and {len(failing) - MOST} more failing tests.")
    return "\n\n".join(pieces)


def _case(case: CaseResult) -> str:
    failure = case.failure
    if failure is None:
        return f"{case.id}: {case.outcome}"
    head = f"{case.id} failed with {failure.type}"
    if failure.expected is not None and failure.observed is not None:
        return "\n".join([head, *align(failure.expected, failure.observed), *_assertion(failure)])
    rows = [head + (f": {shorten(failure.message)}" if failure.message else "")]
    if failure.frames:
        frame = failure.frames[-1]
        rows.append(f"  at {frame.path}:{frame.line} in {frame.function}")
    return "\n".join([*rows, *_assertion(failure)])


def _assertion(failure: Failure) -> list[str]:
    """The failing source line as the runner printed it (`>   assert f(1) == [0]`)."""
    for row in reversed(failure.text[-TEXT:].split("\n")):
        if row.startswith(">"):
            return [f"  in: {row[1:].strip()}"]
    return []


def align(expected: str, observed: str) -> list[str]:
    """Both values below each other, and their first difference: an index, a key or a type."""
    rows = [f"  expected: {shorten(expected)}", f"  observed: {shorten(observed)}"]
    difference = first_difference(expected, observed)
    return [*rows, f"  first difference: {difference}"] if difference else rows
