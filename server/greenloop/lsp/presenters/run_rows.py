"""Runs and their attempts as JSON values, for a client with its own view (docs/protocol.md)."""

from __future__ import annotations

from typing import Any

from greenloop.core.records.attempt import Attempt
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.presenters import hover_text, progress
from greenloop.lsp.presenters.attempt_line import message_of
from greenloop.lsp.state.run import Run


def run_row(run: Run) -> dict[str, Any]:
    return {
        "uri": run.uri,
        "target": run.target.selector,
        "name": run.name,
        "phase": run.phase.value,
        "said": clean_for_display(progress.current_step(run)) if run.running else hover_text.state(run),
        "limit": run.limit,
        "seconds": round(run.seconds, 1),
        "solved": bool(run.outcome and run.outcome.solved),
        "offered": run.offered,
        "applied": run.result.applied,
        "cancelled": run.cancelled,
        "result": run.outcome.best if run.outcome and run.changes else None,
        "attempts": [_attempt_row(attempt) for attempt in run.attempts],
    }


def _attempt_row(attempt: Attempt) -> dict[str, Any]:
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
