"""`greenloop/runs`: sends the current state of every run to a client with its own view, rate-limited."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.core.records.attempt import Attempt
from greenloop.core.text.redact import clean_for_display
from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import RUNS
from greenloop.lsp.parts import Parts
from greenloop.lsp.presenters import hover_text, progress
from greenloop.lsp.presenters.case_diagnostics import deepest_line
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import Run
from greenloop.wording.attempt import attempt_gain, error_message, first_failure
from greenloop.wording.model import describe_model
from greenloop.wording.notes import list_notes
from greenloop.wording.outcome import describe_gain

# Seconds between two notifications; with many runs, at least this many times the duration of sending one.
INTERVAL = 0.2
TIMES = 20


def register(_server: LanguageServer, parts: Parts) -> None:
    RunPublisher(parts.client, parts.runs)


class RunPublisher:
    """Publishes the state of all runs; changes between two notifications are in the next, which always comes."""

    def __init__(self, client: Client, runs: Runs) -> None:
        self._client, self._runs = client, runs
        self._next_at = 0.0
        self._is_scheduled = False
        runs.on_list_changed.append(self.schedule)
        runs.on_changed.append(lambda _run: self.schedule())

    def schedule(self) -> None:
        """Publishes as soon as the interval allows."""
        if self._client.capabilities.runs and not self._is_scheduled:
            self._is_scheduled = True
            self._publish_after(max(self._next_at - time.monotonic(), 0.0))

    def _publish_after(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._publish)

    def _publish(self) -> None:
        if self._client.is_behind:
            # A client that reads slowly gets the state after it has read the rest.
            self._publish_after(INTERVAL)
            return
        began_at, self._is_scheduled = time.monotonic(), False
        self._client.notify(RUNS, {"runs": [run_row(run) for run in self._runs]})
        self._next_at = began_at + max(INTERVAL, TIMES * (time.monotonic() - began_at))


def run_row(run: Run) -> dict[str, Any]:
    return {
        "uri": run.uri,
        "target": run.target.selector,
        "name": run.name,
        "phase": run.phase.value,
        "said": clean_for_display(progress.current_step(run)) if run.running else hover_text.state(run),
        "model": clean_for_display(describe_model(run.started.model)) if run.started else "",
        "kind": run.started.kind.value if run.started and run.started.kind else "",
        "looks": [clean_for_display(look.summary) for look in run.progress.looks],
        "limit": run.limit,
        "seconds": round(run.seconds, 1),
        "solved": bool(run.outcome and run.outcome.solved),
        "offered": run.offered,
        "applied": run.result.applied,
        "cancelled": run.cancelled,
        "result": run.outcome.best if run.outcome and run.changes else None,
        "gain": describe_gain(run.outcome.evidence) if run.outcome else "",
        "heat": "" if run.running else hover_text.heat(run),
        "notes": [clean_for_display(note) for note in list_notes(run.outcome)] if run.outcome else [],
        "alsoFixed": [*run.outcome.evidence.also_fixed] if run.outcome and run.outcome.solved else [],
        "attempts": [_attempt_row(run, attempt) for attempt in run.attempts],
    }


def _attempt_row(run: Run, attempt: Attempt) -> dict[str, Any]:
    verdict, spent = attempt.verdict, attempt.spent
    seconds = spent.model_seconds + spent.test_seconds if attempt.number else verdict.seconds
    return {
        "attempt": attempt.number,
        "parent": attempt.parent,
        "model": clean_for_display(describe_model(attempt.model)),
        "status": verdict.status.value,
        "passed": verdict.passed,
        "total": verdict.total,
        "errorClass": clean_for_display(attempt.error_class),
        "message": error_message(attempt) or attempt_gain(attempt),
        "at": _place(run, attempt),
        "looks": [clean_for_display(look.summary) for look in attempt.looks],
        "tokens": spent.tokens,
        "cachedTokens": spent.cached_tokens,
        "seconds": round(seconds, 2),
        "cost": spent.cost,
    }


def _place(run: Run, attempt: Attempt) -> dict[str, Any] | None:
    """The deepest line of the first failure in a file that the attempt leaves as it is, such as the assertion."""
    case = first_failure(attempt)
    changed = {region.path for region in attempt.candidate.texts} if attempt.candidate else set()
    place = deepest_line(run.root, case.failure if case else None, lambda path, line: 0 if path in changed else line)
    return {"uri": uri_from_path(run.root / place[0]), "line": place[1] - 1} if place else None
