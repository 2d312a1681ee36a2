"""Runs and their attempts as JSON values, for a client with its own view (docs/protocol.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenloop.core.records.attempt import Attempt
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.presenters import hover_text, progress
from greenloop.lsp.presenters.attempt_line import message_of

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run


def run(shown: Run) -> dict[str, Any]:
    return {
        "uri": shown.uri,
        "target": shown.target.selector,
        "name": shown.name,
        "phase": shown.phase.value,
        "said": clean_for_display(progress.now(shown)) if shown.running else hover_text.state(shown),
        "limit": shown.limit,
        "seconds": round(shown.seconds, 1),
        "solved": bool(shown.outcome and shown.outcome.solved),
        "offered": shown.offered,
        "applied": shown.applied,
        "cancelled": shown.cancelled,
        "result": shown.outcome.best if shown.outcome and shown.changes else None,
        "attempts": [_attempt(attempt) for attempt in shown.attempts],
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    verdict, spent = attempt.verdict, attempt.spent
    seconds = spent.model_seconds + spent.test_seconds if attempt.number else verdict.seconds
    return {
        "attempt": attempt.number,
        "parent": attempt.parent,
        "model": clean_for_display(attempt.model),
        "status": verdict.status.value,
        "passed": verdict.passed,
        "total": verdict.total,
        "errorClass": clean_for_display(attempt.error_class),
        "message": message_of(attempt),
        "tokens": spent.tokens,
        "seconds": round(seconds, 2),
        "cost": spent.cost,
    }
