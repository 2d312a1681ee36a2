"""All cases with their outcome: the assertions that hold, and those that fail with the value they got instead.

The format is Reflexion's ("Tests passed: … Tests failed: assert f(1) == 2 # output: 3"), which is also Self-Debug's
"unit test" feedback. It is short, for a small model reads slowly: values are cut, passing cases are named only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from greenloop.core.nouns import Attempt, CaseResult, Failure, Note, Problem
from greenloop.core.ports import Tools
from greenloop.feedback._findings import told
from greenloop.feedback._statements import Sources, asserted, first_statement, raised, sources
from greenloop.feedback._values import first_difference, short

FAILING = 12  # cases with their values; the rest are counted
PASSING = 5  # cases by name
VALUE = 160  # characters of one value
LONG = 40  # characters from which on the place of the first difference helps
_CALLED = re.compile(r"^ *\+ +where (.{1,400}?) = ([^<\n]{1,400})$", re.MULTILINE)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:  # noqa: ARG001
    """The newest attempt's cases, failing ones with their actual values."""
    return Note(text=told(problem, attempts, listed))


def listed(problem: Problem, attempt: Attempt) -> str:
    """Passing and failing cases of an attempt as text."""
    verdict = attempt.verdict
    texts = sources(problem, attempt)
    passing = [case for case in verdict.cases if case.passed]
    failing = [case for case in verdict.cases if not case.passed]
    pieces = [short(verdict.reason, 3 * VALUE)] if verdict.reason else []
    if passing:
        pieces.append("\n".join(["Tests passed:", *_some([_name(problem, case, texts) for case in passing], PASSING)]))
    if failing:
        pieces.append("\n".join(["Tests failed:", *_some([_line(problem, case, texts) for case in failing], FAILING)]))
    if verdict.collateral:
        rows = _some([_line(problem, case, texts) for case in verdict.collateral], FAILING)
        pieces.append("\n".join(["Tests that passed before and fail now:", *rows]))
    return "\n".join(pieces)


def _some(rows: Sequence[str], most: int) -> list[str]:
    """The rows, equal ones once; what is over the limit is counted."""
    unique = list(dict.fromkeys(rows))
    return unique[:most] + ([f"and {len(unique) - most} more"] if len(unique) > most else [])


def _name(problem: Problem, result: CaseResult, texts: Sources) -> str:
    """A passing case: its statement where it is a single one, else its name."""
    case = next((case for case in problem.spec.cases if case.id == result.id), None)
    if case and "[" not in result.id:
        found = first_statement(texts.get(case.path, ""), case.line)
        if found and len(found) <= VALUE:
            return found
    return short(result.id.rpartition("::")[2], VALUE)


def _line(problem: Problem, case: CaseResult, texts: Sources) -> str:
    failure = case.failure
    name = case.id.rpartition("::")[2]
    if failure is None:
        return f"{short(name, VALUE)}  # {'it was not run' if case.outcome == 'missing' else case.outcome}"
    said = asserted(problem, case, texts)
    if not said:
        return f"{short(name, VALUE)}  # {_told(problem, failure, '', texts)}"
    said = said if len(said) <= 3 * VALUE else short(said, 3 * VALUE)
    which = f"{short(name, VALUE)}: " if "[" in name else ""  # the statement of a parametrised test tells no values
    return f"{which}{said}  # {_told(problem, failure, said, texts)}"


def _told(problem: Problem, failure: Failure, said: str, texts: Sources) -> str:
    """What came out instead, in one row."""
    if failure.observed is not None:
        return _observed(failure, said)
    message = failure.message[: 20 * VALUE].strip()
    if failure.type == "AssertionError":
        evaluated = next((row for row in message.split("\n") if row.startswith("assert ")), "")
        if evaluated:
            own = "" if message.startswith("assert ") else f"{message.split(chr(10))[0]}: "
            return f"{own}evaluated: {short(evaluated.removeprefix('assert '), VALUE)}{_called(message, said)}"
        return f"AssertionError{': ' if message else ''}{short(message, VALUE)}"
    if failure.type in {"Failed", "Timeout", "Crash", "MemoryLimit", "ProcessLimit"}:
        return short(message, VALUE) or failure.type
    where = raised(problem, failure, texts)
    return f"{failure.type}: {short(message, VALUE)}" + (f", raised in `{short(where, VALUE)}`" if where else "")


def _observed(failure: Failure, said: str) -> str:
    observed, expected = failure.observed or "", failure.expected
    text = f"output: {short(observed, VALUE)}{_called(failure.message[: 20 * VALUE], said)}"
    if expected is None:
        return text
    if not _states(said, expected):
        text += f", expected: {short(expected, VALUE)}"
    if len(observed) > LONG and (difference := first_difference(expected, observed)):
        text += f" ({short(difference, VALUE)})"
    return text


def _called(message: str, said: str) -> str:
    """The call with its arguments, where the assertion names variables instead."""
    found = _CALLED.search(message)
    if not found or "".join(found[2].split()) in "".join(said.split()):
        return ""
    return f" from {short(found[2], VALUE)}"


def _states(said: str, expected: str) -> bool:
    """Does the assertion hold the expected value itself, not a name for it?"""
    try:
        value = ast.literal_eval(expected[: 20 * VALUE])
        whole = ast.parse(said).body[0]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, IndexError):
        return False
    sides: list[ast.expr] = []
    if isinstance(whole, ast.Assert) and isinstance(whole.test, ast.Compare):
        sides = [whole.test.left, *whole.test.comparators]
    elif isinstance(whole, ast.Expr) and isinstance(whole.value, ast.Call):
        sides = whole.value.args  # assertEqual(f(1), 2)
    return any(_is(side, value) for side in sides)


def _is(side: ast.expr, value: object) -> bool:
    try:
        return bool(ast.literal_eval(side) == value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
