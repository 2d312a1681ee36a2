"""One progress line in the editor: requested in the background, begun once accepted, always ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lsprotocol import types as lsp

from greenloop.lsp.connection.client import Client
from greenloop.lsp.tasks import Tasks


class ProgressLine:
    """Does nothing where the editor shows no progress. Its cancel button calls `cancel`.

    `text` is the first text. `percentage` is the first percentage, needed if any follows: editors show none later where
    the first was missing.
    """

    def __init__(
        self,
        client: Client,
        tasks: Tasks,
        title: str,
        cancel: Callable[[], object],
        *,
        text: str = "",
        percentage: int | None = None,
    ) -> None:
        self._client, self._tasks, self._title, self._cancel = client, tasks, title, cancel
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
