"""A check's progress line, and the one sentence that says how it ended."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.nouns import CaseResult
from greenloop.lsp import client

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Seconds after which a check that nobody asked for says that it is still at it.
LATE = 1.0


class Line:
    """One check's progress: asked for beside the check, which never waits for it. Its cancel button cancels."""

    def __init__(self, server: Server, title: str, cancel: Callable[[], object], *, late: bool) -> None:
        self._server, self._title, self._cancel = server, title, cancel
        self._token: str | None = None
        self._text, self._over = "", False
        self._timer: asyncio.TimerHandle | None = None
        if server.abilities.progress:
            self._timer = asyncio.get_running_loop().call_later(
                LATE if late else 0.0, lambda: server.runs.spawn(self._begin())
            )

    def say(self, text: str) -> None:
        self._text = text
        if self._token is not None:
            self._server.work_done_progress.report(self._token, lsp.WorkDoneProgressReport(message=text))

    def end(self, text: str) -> None:
        self._over, self._text = True, text
        if self._timer is not None:
            self._timer.cancel()
        if self._token is not None:
            self._server.work_done_progress.end(self._token, lsp.WorkDoneProgressEnd(message=text))
            # pygls keeps tokens for ever.
            self._server.work_done_progress.tokens.pop(self._token, None)
            self._token = None

    async def _begin(self) -> None:
        token = await client.open_progress(self._server)
        loop, progress = asyncio.get_running_loop(), self._server.work_done_progress
        if token is None:
            return
        if self._over:
            progress.tokens.pop(token, None)
            return
        begin = lsp.WorkDoneProgressBegin(title=self._title, cancellable=True, message=self._text or None)
        progress.begin(token, begin)
        progress.tokens[token].add_done_callback(
            lambda future: loop.call_soon_threadsafe(self._cancel) if future.cancelled() else None
        )
        self._token = token


def sentence(results: Sequence[CaseResult], broken: Sequence[str], left: int, seconds: float) -> str:
    """`3 passed, 1 failed in 0.2 s`."""
    counted = Counter(result.outcome for result in results)
    words = {"error": "broken", "xfailed": "expected to fail", "xpassed": "passed unexpectedly"}
    order = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
    parts = [f"{counted[outcome]} {words.get(outcome, outcome)}" for outcome in order if counted[outcome]]
    if left:
        parts.append(f"{left} not run for want of time")
    text = f"{', '.join(parts) or 'no tests ran'} in {seconds:.1f} s"
    return "; ".join([text, *(f"{file} cannot be collected" for file in broken)])
