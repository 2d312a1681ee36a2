"""Expected beside observed, with the first difference, for each failing case."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from greenloop.core.nouns import Attempt, CaseResult, Failure, Note, Problem
from greenloop.core.ports import Tools

MOST = 4  # cases described in full; the rest are counted
WIDTH = 400  # characters of one value


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:  # noqa: ARG001
    """What each failing case of the newest attempt expected and got."""
    newest = attempts[-1]
    if newest.finding:
        where = f" at line {newest.finding.line}" if newest.finding.line else ""
        return Note(text=f"The code was not run: {newest.finding.error_class}{where}: {newest.finding.message}")
    verdict = newest.verdict
    failing = [case for case in (*verdict.cases, *verdict.collateral) if not case.passed]
    pieces = [verdict.reason] if verdict.reason else []
    pieces += [_case(case) for case in failing[:MOST]]
    if len(failing) > MOST:
        pieces.append(f"and {len(failing) - MOST} more failing tests.")
    return Note(text="\n\n".join(pieces))


def _case(case: CaseResult) -> str:
    failure = case.failure
    if failure is None:
        return f"{case.id}: {case.outcome}"
    head = f"{case.id} failed with {failure.type}"
    if failure.expected is not None and failure.observed is not None:
        return "\n".join([head, *aligned(failure.expected, failure.observed), *_asserted(failure)])
    rows = [head + (f": {_short(failure.message)}" if failure.message else "")]
    if failure.frames:
        frame = failure.frames[-1]
        rows.append(f"  at {frame.path}:{frame.line} in {frame.function}")
    return "\n".join([*rows, *_asserted(failure)])


def _asserted(failure: Failure) -> list[str]:
    """The failing source line as the runner printed it (`>   assert f(1) == [0]`)."""
    for row in reversed(failure.text.split("\n")):
        if row.startswith(">"):
            return [f"  in: {row[1:].strip()}"]
    return []


def aligned(expected: str, observed: str) -> list[str]:
    """Both values one under the other and where they first differ: an index, a key, or a character."""
    rows = [f"  expected: {_short(expected)}", f"  observed: {_short(observed)}"]
    difference = first_difference(expected, observed)
    return [*rows, f"  first difference: {difference}"] if difference else rows


def first_difference(expected: str, observed: str) -> str:
    try:
        left, right = ast.literal_eval(expected), ast.literal_eval(observed)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return ""
    if type(left) is not type(right):
        return f"expected {type(left).__name__}, observed {type(right).__name__}"
    if isinstance(left, (list, tuple, str)):
        return _in_sequence(left, right)
    if isinstance(left, dict):
        for key in left:
            if key not in right:
                return f"key {key!r} is missing"
            if left[key] != right[key]:
                return f"key {key!r}: expected {left[key]!r}, observed {right[key]!r}"
        return next((f"key {key!r} is too many" for key in right if key not in left), "")
    if isinstance(left, (set, frozenset)):
        return "; ".join(
            text
            for text, items in (
                (f"missing {left - right!r}", left - right),
                (f"too many {right - left!r}", right - left),
            )
            if items
        )
    return ""


def _in_sequence(left: list[object] | tuple[object, ...] | str, right: list[object] | tuple[object, ...] | str) -> str:
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return f"index {index}: expected {one!r}, observed {other!r}"
    if len(right) > len(left):
        return f"index {len(left)}: observed has {right[len(left)]!r} too many"
    if len(left) > len(right):
        return f"index {len(right)}: {left[len(right)]!r} is missing"
    return ""


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= WIDTH else f"{flat[: WIDTH - 20]} … ({len(flat)} characters)"
