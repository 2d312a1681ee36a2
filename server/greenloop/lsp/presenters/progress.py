"""A run's progress line: status, attempt, passing tests, tokens, cost. At most five updates a second."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from greenloop.core.estimate import format_estimate
from greenloop.lsp.presenters.progress_line import Line
from greenloop.lsp.runs.runs import Run

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Seconds between two reports, and between two while nothing happens (the text shows the elapsed time).
BETWEEN = 0.2
IDLE = 1.0
# Seconds that a run waits for the editor to accept its progress line; editors answer in milliseconds.
PATIENCE = 1.0
# Prompt tokens a second of the embedded model on two cores, until measured at the first answer.
LOCAL_PACE = 33.0


class Bar:
    """The progress line of one run; its cancel button cancels the run."""

    def __init__(self, server: Server, run: Run) -> None:
        self._server, self._run = server, run
        self._line = Line(server, f"Refining {run.name}", run.cancel, text=describe(run))
        self._shown, self._at = "", 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Uses the token of the client's request, else requests one; the run does not wait for a slow answer."""
        if self._run.token is not None or self._server.abilities.progress:
            self._later(IDLE)
        if self._run.token is not None:
            self._line.begin(self._run.token)
        else:
            await asyncio.wait({self._line.ask()}, timeout=PATIENCE)

    @property
    def silent(self) -> bool:
        """The editor shows no progress."""
        return not self._line.shown

    def update(self) -> None:
        """Shows the newest state, at once or after the minimum interval. Does nothing without a progress line."""
        if self._timer is not None:
            self._later(max(self._at + BETWEEN - time.monotonic(), 0.0))

    def end(self, text: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._line.end(text)

    def _later(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._report)

    def _report(self) -> None:
        text = describe(self._run)
        self._at = time.monotonic()
        self._later(IDLE)
        outbox = self._server.outbox
        if text == self._shown or (outbox is not None and outbox.behind):
            return
        self._shown = text
        self._line.report_status(text, cancellable=self._run.cancellable)


def describe(run: Run) -> str:
    """One line: `attempt 2/5 · writing, 84 tokens · 1/3 passed · 1204 tokens · $0.0012 · 14 s`.

    For a queued run: `waiting, 2 ahead of it · 3 s`.
    """
    parts = []
    if run.started is not None:
        number = run.planned.attempt if run.planned else 1
        parts.append(f"attempt {number}/{run.limit}")
    parts.append(now(run))
    if run.started is not None and run.started.estimate and len(run.attempts) <= 1:
        parts.append(format_estimate(run.started.estimate))
    tested = [attempt.verdict for attempt in run.attempts if attempt.verdict.total]
    if tested:
        parts.append(f"{tested[-1].passed}/{tested[-1].total} passed")
    tokens = sum(attempt.spent.tokens for attempt in run.attempts)
    if tokens:
        parts.append(f"{tokens} tokens")
    prices = [attempt.spent.cost for attempt in run.attempts]
    if None not in prices and (cost := sum(price or 0.0 for price in prices)):
        parts.append(f"${cost:.4f}")
    parts.append(f"{run.seconds:.0f} s")
    return " · ".join(parts)


def now(run: Run) -> str:
    """The current step of a run in progress."""
    return run.now or _reading(run) or "starting"


def _reading(run: Run) -> str:
    if run.planned is None:
        return ""
    pace = run.pace or (LOCAL_PACE if run.planned.model.startswith("local") else 0.0)
    remaining = run.planned.prompt_tokens / pace - (time.monotonic() - run.planned_at) if pace else 0.0
    return (
        f"reading prompt, about {remaining:.0f} s"
        if remaining >= 1
        else f"reading prompt, {run.planned.prompt_tokens} tokens"
    )
