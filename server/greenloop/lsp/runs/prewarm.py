"""Pre-warms a sandbox when the editor shows a refinable target, so that the first run starts faster."""

from __future__ import annotations

import logging
import math
import time
from pathlib import Path

from greenloop.core.errors import GreenloopError
from greenloop.lsp.editor import Editor
from greenloop.lsp.engines import Engines
from greenloop.lsp.runs.runs import Runs

log = logging.getLogger(__name__)

# Seconds between two checks for a ready sandbox: the cursor moves more often than that.
AGAIN = 10.0


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
