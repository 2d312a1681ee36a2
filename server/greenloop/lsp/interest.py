"""Somebody looks at what can be refined: a sandbox is made ready, so that the first run need not wait for it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.errors import GreenloopError
from greenloop.lsp.features import configuration

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


def shown(server: Server, root: Path) -> None:
    """Warms a sandbox for this workspace in the background, where none is ready or under way."""
    if root not in server.warming:
        server.warming.add(root)
        server.runs.spawn(_warm(server, root))


async def _warm(server: Server, root: Path) -> None:
    try:
        await (await server.engine()).warm(root, configuration.load(server, root), server.keeper)
    except GreenloopError as error:
        # The run will say it, to somebody who asked.
        log.info("No sandbox was made ready: %s", error)
    finally:
        server.warming.discard(root)
