"""Offers unapplied results of earlier servers again, and clears their old diagnostics.

It must not know how the history is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from greenloop import api
from greenloop.api.notebooks import Notebook
from greenloop.api.settings import Settings
from greenloop.core.records.spec import Target
from greenloop.lsp.documents import locations, notebook_requests
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.runs import history_runs
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import Run


class RunRestorer:
    """Brings runs of earlier servers back into the list of runs."""

    def __init__(self, editor: Editor, runs: Runs, store: DiagnosticsStore) -> None:
        self._client, self._documents, self._settings = editor.client, editor.documents, editor.settings
        self._runs, self._store = runs, store
        # Projects outside the workspace folders whose runs were restored already.
        self._outside: set[Path] = set()

    async def restore(self, roots: Sequence[Path], files: Collection[Path] | None = None) -> None:
        """Restores the runs of these folders, or of some files in them; runs of this server are never changed."""
        for root in roots:
            if earlier_runs := await asyncio.to_thread(history_runs.read, root):
                settings = self._settings.load(root)
                for earlier in earlier_runs:
                    if files is None or root / earlier.file in files:
                        await self._restore_run(root, earlier, settings)

    async def restore_outside(self, uri: str) -> None:
        """The same for the project of a file outside every workspace folder, once for each project."""
        file = locations.locate_for_display(self._documents, uri)
        if file is not None and file.root not in self._outside:
            self._outside.add(file.root)
            await self.restore([file.root])

    async def _restore_run(self, root: Path, earlier: history_runs.EarlierRun, settings: Settings) -> None:
        documents = self._documents
        notebook = documents.notebook(root / earlier.file, root)
        if notebook is not None:
            earlier = await asyncio.to_thread(_adapt_to_cells, notebook, earlier)
        texts = {each: documents.text(root / each) for each in earlier.paths}
        target = await asyncio.to_thread(_find_target, root, earlier, texts.get(earlier.file), notebook)
        uri = locations.document_uri(documents, root, target) if target else ""
        run = (
            await asyncio.to_thread(history_runs.restore_run, earlier, target, uri, texts, settings) if target else None
        )
        if not earlier.finished and notebook is None:
            # Some editors keep the diagnostics of a server that crashed.
            for each in earlier.paths:
                self._store.clear_leftovers(root / each)
        if run is not None and (root in self._outside or documents.root_of(root) is not None):
            self._runs.restore(run)
            self._client.log(f"Restored the earlier run of {run.target.selector}.")


def _find_target(
    root: Path, earlier: history_runs.EarlierRun, text: str | None, notebook: Notebook | None
) -> Target | None:
    path, _, name = earlier.record.target.partition("::")
    if notebook is not None:
        return notebook_requests.find_target(notebook, path, name)
    return locations.target_named(root, text, path, name) if text is not None and name else None


def _adapt_to_cells(notebook: Notebook, earlier: history_runs.EarlierRun) -> history_runs.EarlierRun:
    """The run adapted to the editor's current cells; without its result where they have changed."""
    outcome = earlier.record.outcome
    adapted = notebook_requests.adapt_stored_outcome(notebook, outcome) if outcome else None
    return replace(earlier, record=replace(earlier.record, outcome=adapted))


async def record_applied(run: Run) -> None:
    """Records in the history that a run's result is in the user's text."""
    await asyncio.to_thread(_record, run, applied=True)


async def record_discarded(run: Run) -> None:
    """Records in the history that the user discarded a run."""
    await asyncio.to_thread(_record, run, applied=False)


def _record(run: Run, *, applied: bool) -> None:
    (api.history.mark_applied if applied else api.history.discard)(run.outcome.run if run.outcome is not None else None)
