"""An attempt's cases as rows: assertions that hold, and those that fail with the value they got instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import islice

from greenloop.core.nouns import Attempt, CaseResult, Failure, Problem
from greenloop.feedback._statements import Sources, asserted, first_statement, raised, sources
from greenloop.feedback._values import first_difference, short

FAILING = 12  # cases with their values; the rest are counted
PASSING = 5  # cases by name
VALUE = 160  # characters of one value
LOOKED = 50  # cases that are read at all
LONG = 40  # characters from which on the place of the first difference helps
OWN_WORDS = frozenset({"Constraint", "Rejected"})  # failures that say all there is to say
_CALLED = re.compile(r"^ *\+ +where (.{1,400}?) = ([^<\n]{1,400})$", re.MULTILINE)


def listed(problem: Problem, attempt: Attempt) -> str:
    """Passing and failing cases of an attempt as text."""
    verdict = attempt.verdict
    texts = sources(problem, attempt)
    passing = [_name(problem, case, texts) for case in _first(verdict.cases, passed=True)]
    pieces = [short(verdict.reason, 3 * VALUE)] if verdict.reason else []
    if passing:
        pieces += ["Tests passed:", *_some(passing, verdict.passed, PASSING)]
    for title, results, total in (
        ("Tests failed", _first(verdict.cases, passed=False), verdict.total - verdict.passed),
        ("Tests that passed before and fail now", verdict.collateral[:LOOKED], len(verdict.collateral)),
    ):
        pieces += _failing(title, [_pair(problem, case, texts) for case in results], total)
    return "\n".join(pieces)


def rows(problem: Problem, attempt: Attempt) -> list[str]:
    """The first failing cases, one row each: what was asserted and what came out instead."""
    texts = sources(problem, attempt)
    return [_row(*_pair(problem, case, texts)) for case in _first(attempt.verdict.cases, passed=False)]


def _failing(title: str, pairs: Sequence[tuple[str, str]], total: int) -> list[str]:
    """The cases below their title; what came out stands there once where it is the same for all."""
    outcomes = {told for _said, told in pairs}
    if len(outcomes) == 1 and len({said for said, _told in pairs}) > 1:
        return [f"{title}, each with {outcomes.pop()}:", *_some([said for said, _told in pairs], total, FAILING)]
    return [f"{title}:", *_some([_row(*pair) for pair in pairs], total, FAILING)] if pairs else []


def _row(said: str, told: str) -> str:
    return f"{said}  # {told}"


def _first(results: Sequence[CaseResult], *, passed: bool) -> list[CaseResult]:
    return list(islice((case for case in results if case.passed is passed), LOOKED))


def _some(lines: Sequence[str], total: int, most: int) -> list[str]:
    """The rows, equal ones once; those that are not shown are counted."""
    shown = list(dict.fromkeys(lines))[:most]
    rest = total - sum(line in shown for line in lines)
    return [*shown, f"and {rest} more"] if rest else shown


def _name(problem: Problem, result: CaseResult, texts: Sources) -> str:
    """A case that tells nothing itself: its statement where it is a single one, else its name."""
    case = next((case for case in problem.spec.cases if case.id == result.id), None)
    if case and case.source:
        return short(case.source, VALUE)
    if case and "[" not in result.id:
        found = first_statement(texts.get(case.path, ""), case.line)
        if found and len(found) <= VALUE:
            return found
    return short(result.id.rpartition("::")[2], VALUE)


def _pair(problem: Problem, case: CaseResult, texts: Sources) -> tuple[str, str]:
    """What was asserted, and what came out instead."""
    failure = case.failure
    if failure is None:
        return _name(problem, case, texts), "it was not run" if case.outcome == "missing" else case.outcome
    name = short(case.id.rpartition("::")[2], VALUE)
    if failure.type in OWN_WORDS:
        return _source(problem, case) or name, short(failure.message, 3 * VALUE)
    said = asserted(problem, case, texts)
    if not said:
        return name, _told(problem, failure, "", texts)
    said = said if len(said) <= 3 * VALUE else short(said, 3 * VALUE)
    # The statement of a parametrised test tells no values, that of a fixture no test.
    which = f"{name}: " if "[" in name or case.outcome == "error" else ""
    return f"{which}{said}", _told(problem, failure, said, texts)


def _source(problem: Problem, result: CaseResult) -> str:
    """What is written down of a case that no test file holds."""
    source = next((case.source for case in problem.spec.cases if case.id == result.id), "")
    return short(source, VALUE)


def _told(problem: Problem, failure: Failure, said: str, texts: Sources) -> str:
    """What came out instead, in one row."""
    if failure.observed is not None:
        return _observed(failure, said)
    message = failure.message[: 20 * VALUE].strip()
    if failure.type == "AssertionError":
        evaluated = next((row for row in message.split("\n") if row.startswith("assert ")), "")
        if evaluated:
            own = "" if message.startswith("assert ") else f"{short(message.split(chr(10))[0], VALUE)}: "
            return f"{own}evaluated: {short(evaluated.removeprefix('assert '), VALUE)}{_called(message, said)}"
        return f"AssertionError{': ' if message else ''}{short(message, VALUE)}"
    if failure.type in {"Failed", "Timeout", "Crash", "MemoryLimit", "ProcessLimit"}:
        return short(message, VALUE) or failure.type
    where = raised(problem, failure, texts)
    kind = f"{failure.type}: {short(message, VALUE)}" if message else failure.type
    return f"{kind}, raised in `{short(where, VALUE)}`" if where else kind


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
