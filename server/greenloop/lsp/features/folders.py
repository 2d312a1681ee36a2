"""Added and removed workspace folders: loads settings and runs of the new, ends all of the removed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.documents.disk import path_of
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.engines import Engines
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.runs.restore import RunRestorer
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.tasks import Tasks
from greenloop.lsp.testing.scheduler import TestScheduler


def register(
    server: LanguageServer,
    documents: Documents,
    settings: SettingsLoader,
    engines: Engines,
    tasks: Tasks,
    runs: Runs,
    store: DiagnosticsStore,
    scheduler: TestScheduler,
    restorer: RunRestorer,
) -> None:
    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def changed(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.added:
            # pygls has removed a folder that was added and removed at once, such as a renamed one.
            if unquote(folder.uri) not in documents.folders:
                documents.add_folder(folder)
        roots = documents.roots()
        removed = [path for folder in params.event.removed if (path := path_of(folder.uri)) is not None]
        for root in set(removed) - set(roots):
            tasks.spawn(end_folder(root))
        added = [path for folder in params.event.added if (path := path_of(folder.uri)) in roots and path is not None]
        if added:
            tasks.spawn(begin_folders(added))

    async def begin_folders(roots: Sequence[Path]) -> None:
        await settings.request()
        await restorer.restore(roots)

    async def end_folder(root: Path) -> None:
        """Ends the runs of a removed folder, and removes their diagnostics and the folder's sandbox."""
        folder_runs = [run for run in runs if run.root == root]
        runs.cancel(lambda run: run.root == root)
        scheduler.cancel(root)
        await asyncio.gather(*(run.is_over.wait() for run in folder_runs if run.running))
        for run in folder_runs:
            store.put(run, {})
            runs.discard(run)
        store.remove_folder(root)
        await engines.pool.close_workspace(root)
