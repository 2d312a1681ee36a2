"""Runs and their attempts as plain values, for a client that shows them by itself; docs/protocol.md describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenloop.core.nouns import Attempt
from greenloop.core.redact import clean
from greenloop.lsp.presenters import progress, report
from greenloop.lsp.presenters.words import message_of

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run


def run(shown: Run) -> dict[str, Any]:
    return {
        "uri": shown.uri,
        "target": shown.target.selector,
        "name": shown.name,
        "phase": shown.phase.value,
        "said": clean(progress.now(shown)) if shown.running else report.state(shown),
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
        "model": clean(attempt.model),
        "status": verdict.status.value,
        "passed": verdict.passed,
        "total": verdict.total,
        "errorClass": clean(attempt.error_class),
        "message": message_of(attempt),
        "tokens": spent.tokens,
        "seconds": round(seconds, 2),
        "cost": spent.cost,
    }
