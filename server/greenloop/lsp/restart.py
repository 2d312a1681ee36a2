"""After a restart: what earlier servers left is offered again, and nothing of them stays on the screen.

It must not know how a run of the past is read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.nouns import Target
from greenloop.lsp import past, places
from greenloop.lsp.edits import text_of
from greenloop.lsp.features import configuration
from greenloop.settings import Settings

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


async def look(server: Server, roots: Sequence[Path]) -> None:
    """Brings back what waits in these folders; a run of this server is never touched by it."""
    for root in roots:
        if found := await asyncio.to_thread(past.read, root):
            settings = configuration.load(server, root)
            for earlier in found:
                await _bring_back(server, root, earlier, settings)


async def _bring_back(server: Server, root: Path, earlier: past.Earlier, settings: Settings) -> None:
    path, _, name = earlier.record.target.partition("::")
    texts = {each: text_of(server, root / each) for each in earlier.paths}
    target = await asyncio.to_thread(_target, root, texts.get(path), path, name)
    uri = server.documents.uri(root / path)
    run = await asyncio.to_thread(past.revived, earlier, target, uri, texts, settings) if target else None
    if not earlier.finished:
        # Some editors keep what a dead server showed.
        for each in earlier.paths:
            server.board.wipe(root / each)
    if run is not None and server.documents.root_of(root) is not None:
        server.runs.bring_back(run)
        said = f"What became of {run.target.selector} before this server began is known again."
        server.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Info, message=said))


def _target(root: Path, text: str | None, path: str, name: str) -> Target | None:
    return places.find(root, text, path, name) if text is not None and name else None


async def applied(run: Run) -> None:
    """Keeps that a run's result is in the user's text."""
    await _keep(run, past.applied)


async def discarded(run: Run) -> None:
    """Keeps that the user wants no more of a run."""
    await _keep(run, past.discarded)


async def _keep(run: Run, what: Callable[[int], None]) -> None:
    if run.outcome is not None and run.outcome.run is not None:
        await asyncio.to_thread(what, run.outcome.run)
