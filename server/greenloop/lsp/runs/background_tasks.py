"""Runs other long tasks, one of each kind at a time, with a progress line that can cancel them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection import client_requests
from greenloop.lsp.presenters.progress_line import Line

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


class Errands:
    """The tasks in progress; their progress line, `greenloop.cancel` without an argument, or shutdown cancels them."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, title: str, work: Callable[[Line], Awaitable[str]], *, percentage: int | None = None) -> bool:
        """Whether it was started; False where a task with that title is in progress. `work` returns its end text.

        `percentage`: the first percentage, for a task that reports percentages.
        """
        if title in self._tasks:
            return False
        progress_line = Line(self._server, title, lambda: self._end(title), percentage=percentage)
        progress_line.ask()
        self._tasks[title] = self._server.runs.spawn(self._done(title, work, progress_line))
        return True

    def cancel(self) -> int:
        """Cancels all tasks; returns how many."""
        return sum(self._end(title) for title in list(self._tasks))

    def _end(self, title: str) -> bool:
        task = self._tasks.get(title)
        return task is not None and task.cancel()

    async def _done(self, title: str, work: Callable[[Line], Awaitable[str]], line: Line) -> None:
        end_text = "failed"
        try:
            # As for every command: see `client_requests.after_reply`.
            await client_requests.apart()
            end_text = await work(line)
        except asyncio.CancelledError:
            end_text = "cancelled"
            raise
        except GreenloopError as error:
            client_requests.refused(
                self._server, clean_for_display(str(error)), reason=error.kind, remedy=clean_for_display(error.remedy)
            )
        except Exception:
            # Request boundary: the server must survive any error here.
            log.exception("%s failed", title)
            message = f"{title} failed unexpectedly; the server's log (greenloop.showLog) has the details."
            client_requests.tell(self._server, message, lsp.MessageType.Error)
        finally:
            del self._tasks[title]
            line.end(end_text)
