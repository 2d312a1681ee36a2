"""Summarises an attempt's result in one line, for summaries, tables and logs."""

from __future__ import annotations

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.verdict import Status
from greenloop.core.text.redact import clean_for_display


def line_of(attempt: Attempt) -> str:
    """An attempt's result in one line: `attempt 2: 1/3 passed, AssertionError: assert 15 == 10`."""
    verdict = attempt.verdict
    name = "your code" if attempt.number == 0 else f"attempt {attempt.number}"
    has_counts = verdict.total and verdict.status is not Status.TAMPERED
    score = f"{verdict.passed}/{verdict.total} passed" if has_counts else verdict.status.value
    return ", ".join(part for part in (f"{name}: {score}", error_of(attempt)) if part)


def error_of(attempt: Attempt) -> str:
    """Error class and the first line of the first failure's message; empty for a passing attempt."""
    if attempt.verdict.status is Status.TAMPERED:
        return clean_for_display(f"{attempt.error_class}: {attempt.verdict.reason}").strip()
    message = message_of(attempt)
    if not attempt.error_class or message.startswith(attempt.error_class):
        return message if attempt.error_class or attempt.verdict.reason else ""
    return f"{attempt.error_class}: {message}".rstrip(": ")


def message_of(attempt: Attempt) -> str:
    """The first line of the first failure's message, else of the verdict's reason."""
    verdict = attempt.verdict
    failures = (case.failure for case in (*verdict.cases, *verdict.collateral) if case.failure)
    is_tampered = verdict.status is Status.TAMPERED
    message = verdict.reason if is_tampered else next((failure.message for failure in failures), verdict.reason)
    return (clean_for_display(message).strip().splitlines() or [""])[0]
