"""What came of an attempt, in one line: for summaries, tables and logs."""

from __future__ import annotations

from greenloop.core.nouns import Attempt, Status
from greenloop.core.redact import clean


def line_of(attempt: Attempt) -> str:
    """An attempt's result in one line: `attempt 2: 1/3 passed, AssertionError: assert 15 == 10`."""
    verdict = attempt.verdict
    name = "your code" if attempt.number == 0 else f"attempt {attempt.number}"
    counted = verdict.total and verdict.status is not Status.TAMPERED
    score = f"{verdict.passed}/{verdict.total} passed" if counted else verdict.status.value
    return ", ".join(part for part in (f"{name}: {score}", error_of(attempt)) if part)


def error_of(attempt: Attempt) -> str:
    """Error class and the first line of the first failure's message; empty for a passing attempt."""
    if attempt.verdict.status is Status.TAMPERED:
        return clean(f"{attempt.error_class}: {attempt.verdict.reason}").strip()
    first = message_of(attempt)
    if not attempt.error_class or first.startswith(attempt.error_class):
        return first if attempt.error_class or attempt.verdict.reason else ""
    return f"{attempt.error_class}: {first}".rstrip(": ")


def message_of(attempt: Attempt) -> str:
    """The first line of the first failure's message, or of the reason that the verdict gives."""
    verdict = attempt.verdict
    failures = (case.failure for case in (*verdict.cases, *verdict.collateral) if case.failure)
    tampered = verdict.status is Status.TAMPERED
    message = verdict.reason if tampered else next((failure.message for failure in failures), verdict.reason)
    return (clean(message).strip().splitlines() or [""])[0]
