"""Somebody looks at what can be refined: a sandbox is made ready, so that the first run need not wait for it."""

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


# Seconds after which it is looked at again whether one is ready: the cursor moves more often than that.
AGAIN = 10.0


def shown(server: Server, root: Path) -> None:
    """Warms a sandbox for this workspace in the background, where none is ready, in use or under way.

    Looking for that costs more than an answer, and a run will give its own sandbox back.
    """
    looked = server.warming.get(root)
    recently = looked is not None and time.monotonic() - looked < AGAIN
    if not recently and not any(run.running and run.root == root for run in server.runs):
        server.warming[root] = time.monotonic()
        server.runs.spawn(_warm(server, root))


async def _warm(server: Server, root: Path) -> None:
    # Not looked at again before this is over, however long it takes.
    server.warming[root] = math.inf
    try:
        await (await server.engine()).warm(root, configuration.load(server, root), server.keeper)
    except GreenloopError as error:
        # The run will say it, to somebody who asked.
        log.info("No sandbox was made ready: %s", error)
    finally:
        server.warming[root] = time.monotonic()
