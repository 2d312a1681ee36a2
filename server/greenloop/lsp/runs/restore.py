"""Offers unapplied results of earlier servers again, and clears their old diagnostics.

It must not know how the history is read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.records.spec import Target
from greenloop.lsp.documents import locations, notebook_requests
from greenloop.lsp.features import configuration
from greenloop.lsp.runs import history_runs
from greenloop.lsp.runs.apply_edit import text_of
from greenloop.notebook.layout import Notebook
from greenloop.project.settings import Settings

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


async def look(server: Server, roots: Sequence[Path], about: Collection[Path] | None = None) -> None:
    """Restores the runs of these folders, or of some files in them; runs of this server are never changed."""
    for root in roots:
        if earlier_runs := await asyncio.to_thread(history_runs.read, root):
            settings = configuration.load(server, root)
            for earlier in earlier_runs:
                if about is None or root / earlier.file in about:
                    await _bring_back(server, root, earlier, settings)


async def look_around(server: Server, uri: str) -> None:
    """The same for the project of a file outside every workspace folder, once for each project."""
    project_file = locations.of_or_none(server, uri)
    if project_file is not None and project_file.root not in server.strays:
        server.strays.add(project_file.root)
        await look(server, [project_file.root])


async def _bring_back(server: Server, root: Path, earlier: history_runs.Earlier, settings: Settings) -> None:
    notebook = server.documents.notebook(root / earlier.file, root)
    if notebook is not None:
        earlier = await asyncio.to_thread(_of_cells, notebook, earlier)
    texts = {each: text_of(server, root / each) for each in earlier.paths}
    target = await asyncio.to_thread(_target, root, earlier, texts.get(earlier.file), notebook)
    uri = locations.document(server, root, target) if target else ""
    run = await asyncio.to_thread(history_runs.revived, earlier, target, uri, texts, settings) if target else None
    if not earlier.finished and notebook is None:
        # Some editors keep the diagnostics of a server that crashed.
        for each in earlier.paths:
            server.board.wipe(root / each)
    if run is not None and (root in server.strays or server.documents.root_of(root) is not None):
        server.runs.bring_back(run)
        message = f"What became of {run.target.selector} before this server began is known again."
        server.window_log_message(lsp.LogMessageParams(type=lsp.MessageType.Info, message=message))


def _target(root: Path, earlier: history_runs.Earlier, text: str | None, notebook: Notebook | None) -> Target | None:
    path, _, name = earlier.record.target.partition("::")
    if notebook is not None:
        return notebook_requests.named(notebook, path, name)
    return locations.find(root, text, path, name) if text is not None and name else None


def _of_cells(notebook: Notebook, earlier: history_runs.Earlier) -> history_runs.Earlier:
    """The run adapted to the editor's current cells; without its result where they have changed."""
    outcome = earlier.record.outcome
    return replace(
        earlier, record=replace(earlier.record, outcome=notebook_requests.kept(notebook, outcome) if outcome else None)
    )


async def applied(run: Run) -> None:
    """Records in the history that a run's result is in the user's text."""
    await _keep(run, history_runs.applied)


async def discarded(run: Run) -> None:
    """Records in the history that the user discarded a run."""
    await _keep(run, history_runs.discarded)


async def _keep(run: Run, what: Callable[[int], None]) -> None:
    if run.outcome is not None and run.outcome.run is not None:
        await asyncio.to_thread(what, run.outcome.run)
