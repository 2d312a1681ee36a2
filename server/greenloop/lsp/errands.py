"""What is asked for beside runs and checks, one of each kind at a time: with a progress line, and cancellable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.redact import clean
from greenloop.lsp import client
from greenloop.lsp.presenters.line import Line

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


class Errands:
    """Those under way; they end by their progress, by `greenloop.cancel` without an argument, and with the server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, title: str, work: Callable[[Line], Awaitable[str]], *, percentage: int | None = None) -> bool:
        """Whether it was started: one of that title may be under way. `work` returns a word for its end.

        `percentage`: where its progress begins, if it is told in hundredths.
        """
        if title in self._tasks:
            return False
        line = Line(self._server, title, lambda: self._end(title), percentage=percentage)
        line.ask()
        self._tasks[title] = self._server.runs.spawn(self._done(title, work, line))
        return True

    def cancel(self) -> int:
        """How many were cancelled."""
        return sum(self._end(title) for title in list(self._tasks))

    def _end(self, title: str) -> bool:
        task = self._tasks.get(title)
        return task is not None and task.cancel()

    async def _done(self, title: str, work: Callable[[Line], Awaitable[str]], line: Line) -> None:
        end = "failed"
        try:
            # As for every command: see `client.apart`.
            await client.apart()
            end = await work(line)
        except asyncio.CancelledError:
            end = "cancelled"
            raise
        except GreenloopError as error:
            client.refused(self._server, clean(str(error)), reason=error.word, remedy=clean(error.remedy))
        except Exception:
            # The request edge: the server outlives whatever goes wrong here.
            log.exception("%s failed", title)
            said = f"{title} failed unexpectedly; the server's log (greenloop.showLog) has the details."
            client.tell(self._server, said, lsp.MessageType.Error)
        finally:
            del self._tasks[title]
            line.end(end)
