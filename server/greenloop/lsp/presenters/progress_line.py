"""One progress line in the editor: requested in the background, begun once accepted, always ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.lsp.connection import client_requests

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


class Line:
    """Does nothing where the editor shows no progress. Its cancel button calls `cancel`.

    `text` is the first text. `percentage` is the first percentage, needed if any follows: editors show none later where
    the first was missing.
    """

    def __init__(
        self,
        server: Server,
        title: str,
        cancel: Callable[[], object],
        *,
        text: str = "",
        percentage: int | None = None,
    ) -> None:
        self._server, self._title, self._cancel = server, title, cancel
        self._text, self._percentage = text, percentage
        self._token: int | str | None = None
        self._asked: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._over = False

    @property
    def shown(self) -> bool:
        return self._token is not None

    def ask(self) -> asyncio.Task[None]:
        """Requests a line from the editor, which may show it later. The task ends with the editor's answer."""
        self._asked = self._server.runs.spawn(self._answered())
        return self._asked

    def ask_later(self, seconds: float) -> None:
        """Requests a line after `seconds`, unless ended by then."""
        self._timer = asyncio.get_running_loop().call_later(seconds, self.ask)

    def begin(self, token: int | str) -> None:
        """Shows the line with a token that the editor knows."""
        progress = self._server.work_done_progress
        if self._over:
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

    def report_status(self, text: str, percentage: int | None = None, *, cancellable: bool | None = None) -> None:
        self._text, self._percentage = text, percentage
        if self._token is not None:
            report = lsp.WorkDoneProgressReport(message=text, percentage=percentage, cancellable=cancellable)
            self._server.work_done_progress.report(self._token, report)

    def end(self, text: str) -> None:
        """Ends the line. May be called more than once; the first text counts."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._asked is not None:
            self._asked.cancel()
        if self._token is not None:
            self._server.work_done_progress.end(self._token, lsp.WorkDoneProgressEnd(message=text))
            # pygls keeps tokens forever.
            self._server.work_done_progress.tokens.pop(self._token, None)
            self._token = None

    async def _answered(self) -> None:
        token = await client_requests.open_progress(self._server)
        if token is not None:
            self.begin(token)
