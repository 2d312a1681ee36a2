"""Pre-warms a sandbox when the editor shows a refinable target, so that the first run starts faster."""

from __future__ import annotations

import logging
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.errors import GreenloopError
from greenloop.lsp.features import configuration

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


# Seconds between two checks for a ready sandbox: the cursor moves more often than that.
AGAIN = 10.0


def shown(server: Server, root: Path) -> None:
    """Warms a sandbox for this workspace in the background, unless one is ready, in use or being made.

    Checking that costs more than answering the editor, and a run returns its own sandbox.
    """
    checked_at = server.warming.get(root)
    is_recent = checked_at is not None and time.monotonic() - checked_at < AGAIN
    if not is_recent and not any(run.running and run.root == root for run in server.runs):
        server.warming[root] = time.monotonic()
        server.runs.spawn(_warm(server, root))


async def _warm(server: Server, root: Path) -> None:
    # No further check until this is done, however long it takes.
    server.warming[root] = math.inf
    try:
        await (await server.engine()).warm(root, configuration.load(server, root), server.pool)
    except GreenloopError as error:
        # A run will report it, when the user starts one.
        log.info("No sandbox was made ready: %s", error)
    finally:
        server.warming[root] = time.monotonic()
