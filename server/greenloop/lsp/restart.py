"""After a restart: what earlier servers left is offered again, and nothing of them stays on the screen.

It must not know how a run of the past is read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.grid import Notebook
from greenloop.core.nouns import Target
from greenloop.lsp import cells, past, places
from greenloop.lsp.edits import text_of
from greenloop.lsp.features import configuration
from greenloop.settings import Settings

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


async def look(server: Server, roots: Sequence[Path], about: Collection[Path] | None = None) -> None:
    """Brings back what waits in these folders, or in some files of them; a run of this server is never touched."""
    for root in roots:
        if found := await asyncio.to_thread(past.read, root):
            settings = configuration.load(server, root)
            for earlier in found:
                if about is None or root / earlier.file in about:
                    await _bring_back(server, root, earlier, settings)


async def look_around(server: Server, uri: str) -> None:
    """The same for the project around a file that lies in no workspace folder; once for each."""
    place = places.of_or_none(server, uri)
    if place is not None and place.root not in server.strays:
        server.strays.add(place.root)
        await look(server, [place.root])


async def _bring_back(server: Server, root: Path, earlier: past.Earlier, settings: Settings) -> None:
    notebook = server.documents.notebook(root / earlier.file, root)
    if notebook is not None:
        earlier = await asyncio.to_thread(_of_cells, notebook, earlier)
    texts = {each: text_of(server, root / each) for each in earlier.paths}
    target = await asyncio.to_thread(_target, root, earlier, texts.get(earlier.file), notebook)
    uri = places.document(server, root, target) if target else ""
    run = await asyncio.to_thread(past.revived, earlier, target, uri, texts, settings) if target else None
    if not earlier.finished and notebook is None:
        # Some editors keep what a dead server showed.
        for each in earlier.paths:
            server.board.wipe(root / each)
    if run is not None and (root in server.strays or server.documents.root_of(root) is not None):
        server.runs.bring_back(run)
        said = f"What became of {run.target.selector} before this server began is known again."
        server.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Info, message=said))


def _target(root: Path, earlier: past.Earlier, text: str | None, notebook: Notebook | None) -> Target | None:
    path, _, name = earlier.record.target.partition("::")
    if notebook is not None:
        return cells.named(notebook, path, name)
    return places.find(root, text, path, name) if text is not None and name else None


def _of_cells(notebook: Notebook, earlier: past.Earlier) -> past.Earlier:
    """The same over the cells as the editor has them; its result is dropped where they are others."""
    outcome = earlier.record.outcome
    return replace(earlier, record=replace(earlier.record, outcome=cells.kept(notebook, outcome) if outcome else None))


async def applied(run: Run) -> None:
    """Keeps that a run's result is in the user's text."""
    await _keep(run, past.applied)


async def discarded(run: Run) -> None:
    """Keeps that the user wants no more of a run."""
    await _keep(run, past.discarded)


async def _keep(run: Run, what: Callable[[int], None]) -> None:
    if run.outcome is not None and run.outcome.run is not None:
        await asyncio.to_thread(what, run.outcome.run)
