"""Runs other long tasks, one of each kind at a time, with a progress line that can cancel them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.client import after_reply
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters.progress import ProgressLine

log = logging.getLogger(__name__)


class LongTasks:
    """The tasks in progress; their progress line, `greenloop.cancel` without an argument, or shutdown cancels them."""

    def __init__(self, editor: Editor) -> None:
        self._editor, self._client, self._tasks = editor, editor.client, editor.tasks
        self._by_title: dict[str, asyncio.Task[None]] = {}

    def start(
        self, title: str, work: Callable[[ProgressLine], Awaitable[str]], *, percentage: int | None = None
    ) -> bool:
        """Whether it was started; False where a task with that title is in progress. `work` returns its end text.

        `percentage`: the first percentage, for a task that reports percentages.
        """
        if title in self._by_title:
            return False
        progress_line = ProgressLine(self._editor, title, lambda: self._cancel(title), percentage=percentage)
        progress_line.open()
        self._by_title[title] = self._tasks.spawn(self._run(title, work, progress_line))
        return True

    def cancel(self) -> int:
        """Cancels all tasks; returns how many."""
        return sum(self._cancel(title) for title in list(self._by_title))

    def _cancel(self, title: str) -> bool:
        task = self._by_title.get(title)
        return task is not None and task.cancel()

    async def _run(
        self, title: str, work: Callable[[ProgressLine], Awaitable[str]], progress_line: ProgressLine
    ) -> None:
        end_text = "failed"
        try:
            # As for every command: see `after_reply`.
            await after_reply()
            end_text = await work(progress_line)
        except asyncio.CancelledError:
            end_text = "cancelled"
            raise
        except GreenloopError as error:
            self._client.report_refusal(
                clean_for_display(str(error)), reason=error.kind, remedy=clean_for_display(error.remedy)
            )
        except Exception:
            # Request boundary: the server must survive any error here.
            log.exception("%s failed", title)
            message = f"{title} failed unexpectedly. See the server's log (greenloop.showLog)."
            self._client.show_message(message, lsp.MessageType.Error)
        finally:
            del self._by_title[title]
            progress_line.end(end_text)
