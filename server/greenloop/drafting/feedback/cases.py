"""Lists all cases: the assertions that hold, and those that fail with the value they got instead.

The format is Reflexion's ("Tests passed: … Tests failed: assert f(1) == 2 # output: 3"), which is also Self-Debug's
"unit test" feedback. It is short, since small models read slowly: values are cut, passing cases are only named.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import islice

from greenloop.core.ports import Tools
from greenloop.core.python.ast_source import UNPARSABLE
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._failing_lines import (
    Sources,
    attempt_sources,
    failed_statement,
    first_statement,
    raising_line,
)
from greenloop.drafting.feedback._rejected_answers import describe_newest
from greenloop.drafting.feedback._value_diff import first_difference, shorten
from greenloop_sandbox import CaseResult, Failure

FAILING = 12  # failing cases listed with their values; the rest are counted
PASSING = 5  # passing cases listed by name
VALUE = 160  # maximum characters of one value
MAX_CASES = 50  # maximum number of cases that are read
LONG = 40  # characters; for longer values the place of the first difference is added
OWN_WORDS = frozenset(
    {"Constraint", "Different", "NotFaster", "NotSmaller", "Rejected"}
)  # failure types whose message needs no addition
_CALLED = re.compile(r"^ *\+ +where (.{1,400}?) = ([^<\n]{1,400})$", re.MULTILINE)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:  # noqa: ARG001
    """The newest attempt's cases, failing ones with the values they got."""
    return FeedbackNote(text=describe_newest(problem, attempts, list_cases))


def list_cases(problem: Problem, attempt: Attempt) -> str:
    """Passing and failing cases of an attempt as text."""
    verdict = attempt.verdict
    texts = attempt_sources(problem, attempt)
    passing = [_label(problem, case, texts) for case in _first(verdict.cases, passed=True)]
    pieces = [shorten(verdict.reason, 3 * VALUE)] if verdict.reason else []
    if passing:
        pieces += ["Tests passed:", *_limit_rows(passing, verdict.passed, PASSING)]
    for title, results, total in (
        ("Tests failed", _first(verdict.cases, passed=False), verdict.total - verdict.passed),
        ("Tests that passed before and fail now", verdict.collateral[:MAX_CASES], len(verdict.collateral)),
    ):
        pieces += _failing(title, [_pair(problem, case, texts) for case in results], total)
    return "\n".join(pieces)


def failing_rows(problem: Problem, attempt: Attempt) -> list[str]:
    """The first failing cases, one row each: the assertion and what came out instead."""
    texts = attempt_sources(problem, attempt)
    return [_row(*_pair(problem, case, texts)) for case in _first(attempt.verdict.cases, passed=False)]


def _failing(title: str, pairs: Sequence[tuple[str, str]], total: int) -> list[str]:
    """The cases below their title; an outcome that is the same for all is given once."""
    outcomes = {outcome for _assertion, outcome in pairs}
    if len(outcomes) == 1 and len({assertion for assertion, _outcome in pairs}) > 1:
        return [
            f"{title}, each with {outcomes.pop()}:",
            *_limit_rows([assertion for assertion, _outcome in pairs], total, FAILING),
        ]
    return [f"{title}:", *_limit_rows([_row(*pair) for pair in pairs], total, FAILING)] if pairs else []


def _row(assertion: str, outcome: str) -> str:
    return f"{assertion}  # {outcome}"


def _first(results: Sequence[CaseResult], *, passed: bool) -> list[CaseResult]:
    return list(islice((case for case in results if case.passed is passed), MAX_CASES))


def _limit_rows(lines: Sequence[str], total: int, max_rows: int) -> list[str]:
    """The rows without repeats, at most `max_rows` of them; the rest are counted."""
    shown = list(dict.fromkeys(lines))[:max_rows]
    hidden = total - sum(line in shown for line in lines)
    return [*shown, f"and {hidden} more"] if hidden else shown


def _label(problem: Problem, result: CaseResult, texts: Sources) -> str:
    """The label of a case without a failure: its statement where it has a single one, else its name."""
    case = next((case for case in problem.spec.cases if case.id == result.id), None)
    if case and case.source:
        return shorten(case.source, VALUE)
    if case and "[" not in result.id:
        statement = first_statement(texts.get(case.path, ""), case.line)
        if statement and len(statement) <= VALUE:
            return statement
    return shorten(result.id.rpartition("::")[2], VALUE)


def _pair(problem: Problem, case: CaseResult, texts: Sources) -> tuple[str, str]:
    """The assertion of a case, and what came out instead."""
    failure = case.failure
    if failure is None:
        return _label(problem, case, texts), "it was not run" if case.outcome == "missing" else case.outcome
    name = shorten(case.id.rpartition("::")[2], VALUE)
    if failure.type in OWN_WORDS:
        return _source(problem, case) or name, shorten(failure.message, 3 * VALUE)
    assertion = failed_statement(problem, case, texts)
    if not assertion:
        return name, _outcome_text(problem, failure, "", texts)
    assertion = assertion if len(assertion) <= 3 * VALUE else shorten(assertion, 3 * VALUE)
    # The statement of a parametrised test does not show its values, nor that of a fixture its test.
    prefix = f"{name}: " if "[" in name or case.outcome == "error" else ""
    return f"{prefix}{assertion}", _outcome_text(problem, failure, assertion, texts)


def _source(problem: Problem, result: CaseResult) -> str:
    """The source of a case that is in no test file."""
    source = next((case.source for case in problem.spec.cases if case.id == result.id), "")
    return shorten(source, VALUE)


def _outcome_text(problem: Problem, failure: Failure, assertion: str, texts: Sources) -> str:
    """Describes the actual result, in one row."""
    if failure.observed is not None:
        return _observed_value(failure, assertion)
    message = failure.message[: 20 * VALUE].strip()
    if failure.type == "AssertionError":
        evaluated = next((row for row in message.split("\n") if row.startswith("assert ")), "")
        if evaluated:
            first_line = "" if message.startswith("assert ") else f"{shorten(message.split(chr(10))[0], VALUE)}: "
            values = shorten(evaluated.removeprefix("assert "), VALUE)
            return f"{first_line}evaluated: {values}{_evaluated_call(message, assertion)}"
        return f"AssertionError{': ' if message else ''}{shorten(message, VALUE)}"
    if failure.type in {"Failed", "Timeout", "Crash", "MemoryLimit", "ProcessLimit"}:
        return shorten(message, VALUE) or failure.type
    line = raising_line(problem, failure, texts)
    summary = f"{failure.type}: {shorten(message, VALUE)}" if message else failure.type
    return f"{summary}, raised in `{shorten(line, VALUE)}`" if line else summary


def _observed_value(failure: Failure, assertion: str) -> str:
    observed, expected = failure.observed or "", failure.expected
    call = _evaluated_call(failure.message[: 20 * VALUE], assertion)
    description = f"output: {shorten(observed, VALUE)}{call}"
    if expected is None:
        return description
    if not _states_expected(assertion, expected):
        description += f", expected: {shorten(expected, VALUE)}"
    if len(observed) > LONG and (difference := first_difference(expected, observed)):
        description += f" ({shorten(difference, VALUE)})"
    return description


def _evaluated_call(message: str, assertion: str) -> str:
    """The call with its arguments, where the assertion names variables instead."""
    match = _CALLED.search(message)
    if not match or "".join(match[2].split()) in "".join(assertion.split()):
        return ""
    return f" from {shorten(match[2], VALUE)}"


def _states_expected(assertion: str, expected: str) -> bool:
    """Does the assertion contain the expected value itself, not just a name for it?"""
    try:
        value = ast.literal_eval(expected[: 20 * VALUE])
        statement = ast.parse(assertion).body[0]
    except (*UNPARSABLE, TypeError, IndexError):
        return False
    sides: list[ast.expr] = []
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        sides = [statement.test.left, *statement.test.comparators]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        sides = statement.value.args  # assertEqual(f(1), 2)
    return any(_is_literal_equal(side, value) for side in sides)


def _is_literal_equal(side: ast.expr, value: object) -> bool:
    try:
        return bool(ast.literal_eval(side) == value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
