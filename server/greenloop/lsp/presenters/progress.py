"""A run's progress line: status, attempt, passing tests, tokens, cost. At most five updates a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from lsprotocol import types as lsp

from greenloop.core.budget import format_estimate
from greenloop.core.summary import total_usage
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters.hover_text import model_name
from greenloop.lsp.presenters.notifications import activity
from greenloop.lsp.state.run import Run
from greenloop.wording.attempt import count_passed
from greenloop.wording.model import describe_tokens

# Seconds between two reports, and between two while nothing happens (the text shows the elapsed time).
INTERVAL = 0.2
IDLE = 1.0
# Seconds that a run waits for the editor to accept its progress line; editors answer in milliseconds.
PATIENCE = 1.0


class RunProgressLine:
    """The progress line of one run; its cancel button cancels the run."""

    def __init__(self, editor: Editor, run: Run) -> None:
        self._client, self._run = editor.client, run
        self._line = ProgressLine(editor, activity(run), run.cancel, text=describe(run))
        self._shown_text, self._reported_at = "", 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Uses the token of the client's request, else requests one; the run does not wait for a slow answer."""
        token = self._run.request.progress_token
        if token is not None or self._client.capabilities.progress:
            self._report_after(IDLE)
        if token is not None:
            self._line.begin(token)
        else:
            await asyncio.wait({self._line.open()}, timeout=PATIENCE)

    @property
    def is_shown(self) -> bool:
        """True if the editor shows it."""
        return self._line.is_shown

    def update(self) -> None:
        """Shows the newest state, at once or after the minimum interval. Does nothing without a progress line."""
        if self._timer is not None:
            self._report_after(max(self._reported_at + INTERVAL - time.monotonic(), 0.0))

    def end(self, text: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._line.end(text)

    def _report_after(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._report)

    def _report(self) -> None:
        text = describe(self._run)
        self._reported_at = time.monotonic()
        self._report_after(IDLE)
        if text == self._shown_text or self._client.is_behind:
            return
        self._shown_text = text
        self._line.report(text, cancellable=self._run.cancellable)


def describe(run: Run) -> str:
    """One line: `attempt 2/5 · writing, 84 tokens · 3 looks · 1/3 passed · 1,204 tokens · $0.0012 · 14 s`.

    At the beginning with the model and what is expected. For a queued run: `waiting, 2 ahead of it · 3 s`.
    """
    parts = []
    if run.started is not None:
        parts.append(f"attempt {run.progress.number}/{run.limit}")
    parts.append(current_step(run))
    if run.started is not None and len(run.attempts) <= 1:
        parts.append(f"with {model_name(run)}")
        parts += [format_estimate(run.started.estimate)] if run.started.estimate else []
    if looks := sum(map(len, run.progress.looks_by_attempt.values())):
        parts.append(f"{looks} {'look' if looks == 1 else 'looks'}")
    tested = [attempt.verdict for attempt in run.attempts if attempt.verdict.total]
    if tested:
        parts.append(count_passed(tested[-1]))
    if (usage := total_usage(run.attempts)).tokens:
        parts.append(f"{describe_tokens(usage)} tokens")
    prices = [attempt.spent.cost for attempt in run.attempts]
    if None not in prices and (cost := sum(price or 0.0 for price in prices)):
        parts.append(f"${cost:.4f}")
    parts.append(f"{run.seconds:.0f} s")
    return " · ".join(parts)


def current_step(run: Run) -> str:
    """The current step of a run in progress."""
    return run.progress.status or run.progress.describe_reading() or "starting"


class ProgressLine:
    """Does nothing where the editor shows no progress. Its cancel button calls `cancel`.

    `text` is the first text. `percentage` is the first percentage, needed if any follows: editors show none later where
    the first was missing.
    """

    def __init__(
        self,
        editor: Editor,
        title: str,
        cancel: Callable[[], object],
        *,
        text: str = "",
        percentage: int | None = None,
    ) -> None:
        self._client, self._tasks, self._title, self._cancel = editor.client, editor.tasks, title, cancel
        self._text, self._percentage = text, percentage
        self._token: int | str | None = None
        self._request: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    @property
    def is_shown(self) -> bool:
        return self._token is not None

    def open(self) -> asyncio.Task[None]:
        """Requests a line from the editor, which may show it later. The task ends with the editor's answer."""
        self._request = self._tasks.spawn(self._open())
        return self._request

    def open_later(self, seconds: float) -> None:
        """Requests a line after `seconds`, unless ended by then."""
        self._timer = asyncio.get_running_loop().call_later(seconds, self.open)

    def begin(self, token: int | str) -> None:
        """Shows the line with a token that the editor knows."""
        progress = self._client.progress
        if self._is_over:
            progress.tokens.pop(token, None)
            return
        self._token, loop = token, asyncio.get_running_loop()
        begin = lsp.WorkDoneProgressBegin(
            title=self._title, cancellable=True, message=self._text or None, percentage=self._percentage
        )
        progress.begin(token, begin)
        # The editor's cancel arrives as the cancellation of the token's future.
        progress.tokens[token].add_done_callback(
            lambda future: loop.call_soon_threadsafe(self._cancel) if future.cancelled() else None
        )

    def report(self, text: str, percentage: int | None = None, *, cancellable: bool | None = None) -> None:
        self._text, self._percentage = text, percentage
        if self._token is not None:
            report = lsp.WorkDoneProgressReport(message=text, percentage=percentage, cancellable=cancellable)
            self._client.progress.report(self._token, report)

    def end(self, text: str) -> None:
        """Ends the line. May be called more than once; the first text counts."""
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._request is not None:
            self._request.cancel()
        if self._token is not None:
            self._client.progress.end(self._token, lsp.WorkDoneProgressEnd(message=text))
            # pygls keeps tokens forever.
            self._client.progress.tokens.pop(self._token, None)
            self._token = None

    async def _open(self) -> None:
        token = await self._client.open_progress()
        if token is not None:
            self.begin(token)
