"""notebookDocument/did…: handles changes of notebooks, whose cells are documents like others.

Rows of cells belong to `documents/notebooks.py`.
"""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.documents import locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.runs.restore import RunRestorer
from greenloop.lsp.runs.text_changes import TextChanges
from greenloop.lsp.tasks import Tasks
from greenloop.lsp.testing.scheduler import TestScheduler


def register(
    server: LanguageServer,
    documents: Documents,
    tasks: Tasks,
    store: DiagnosticsStore,
    restorer: RunRestorer,
    text_changes: TextChanges,
    scheduler: TestScheduler,
) -> None:
    def notice_module(uri: str) -> Path | None:
        path = documents.path_of(uri)
        module_path = documents.module_of(path) if path else None
        text_changes.notice(module_path)
        return module_path

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenNotebookDocumentParams) -> None:
        module_path = notice_module(params.notebook_document.uri)
        root = documents.root_of(module_path) if module_path else None
        notebook = documents.notebook_at(module_path) if module_path else None
        if root is not None and notebook is not None:
            # Runs of an earlier server can be restored only once the cells are open.
            tasks.spawn(restorer.restore([root], notebook.paths))

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeNotebookDocumentParams) -> None:
        notice_module(params.notebook_document.uri)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(_params: lsp.DidSaveNotebookDocumentParams) -> None:
        locations.clear_cache()
        store.update_all()

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseNotebookDocumentParams) -> None:
        closed_uris = {each.uri for each in params.cell_text_documents}
        path = documents.path_of(params.notebook_document.uri)
        module_path = documents.module_of(path) if path else None
        root = documents.root_of(module_path) if module_path else None
        if root is not None and module_path is not None:
            # The results of its tests would not be visible.
            scheduler.drop(root, module_path.relative_to(root).as_posix())
        text_changes.end_questions(closed_uris)
        store.update_all()
        documents.notify_changed()
        text_changes.cancel_unless_reopened(closed_uris)
