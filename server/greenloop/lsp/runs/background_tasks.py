"""Work in the background of runs: other long tasks with a progress line, and sandboxes that are made ready early."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.lsp.connection.client import after_reply
from greenloop.lsp.editor import Editor
from greenloop.lsp.engines import Engines
from greenloop.lsp.presenters.progress import ProgressLine
from greenloop.lsp.runs.runs import Runs

log = logging.getLogger(__name__)

# Seconds between two checks for a ready sandbox: the cursor moves more often than that.
AGAIN = 10.0


class LongTasks:
    """The tasks in progress; their progress line, `greenloop.cancel` without an argument, or shutdown cancels them."""

    def __init__(self, editor: Editor) -> None:
        self._editor, self._client, self._tasks = editor, editor.client, editor.tasks
        self._by_title: dict[str, asyncio.Task[None]] = {}

    def start(
        self, title: str, work: Callable[[ProgressLine], Awaitable[str]], *, percentage: int | None = None
    ) -> bool:
        """True if it was started; False where a task with that title is in progress. `work` returns its end text.

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
            self._client.report_error(error)
        except Exception:
            # Request boundary: the server must survive any error here.
            log.exception("%s failed", title)
            message = f"{title} failed unexpectedly. See the server's log (greenloop.showLog)."
            self._client.show_message(message, lsp.MessageType.Error)
        finally:
            del self._by_title[title]
            progress_line.end(end_text)


class Prewarmer:
    """The folders whose sandbox was checked, and when."""

    def __init__(self, editor: Editor, engines: Engines, runs: Runs) -> None:
        self._settings, self._tasks = editor.settings, editor.tasks
        self._engines, self._runs = engines, runs
        self._checked_at: dict[Path, float] = {}

    def prewarm(self, root: Path) -> None:
        """Warms a sandbox for this workspace in the background, unless one is ready, in use or being made.

        Checking that costs more than answering the editor, and a run returns its own sandbox.
        """
        checked_at = self._checked_at.get(root)
        is_recent = checked_at is not None and time.monotonic() - checked_at < AGAIN
        if not is_recent and not any(run.running and run.root == root for run in self._runs):
            self._checked_at[root] = time.monotonic()
            self._tasks.spawn(self._warm(root))

    async def _warm(self, root: Path) -> None:
        # No further check until this is done, however long it takes.
        self._checked_at[root] = math.inf
        try:
            engine = await self._engines.engine()
            await engine.warm(root, self._settings.load(root), self._engines.pool)
        except GreenloopError as error:
            # A run will report it, when the user starts one.
            log.info("No sandbox was made ready: %s", error)
        finally:
            self._checked_at[root] = time.monotonic()
