"""The feature that greenloop registers: notebookDocument/did…, which keeps what is shown in step with the cells.

The cells are documents like others; their rows belong to `plugins/notebooks/open_notebooks.py`.
"""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.documents import locations
from greenloop.lsp.parts import Parts
from greenloop.plugins.notebooks.open_notebooks import OpenNotebooks

SERVER_OPTIONS = {
    "notebook_document_sync": lsp.NotebookDocumentSyncOptions(
        notebook_selector=[
            lsp.NotebookDocumentFilterWithNotebook(
                notebook=lsp.NotebookDocumentFilterPattern(pattern="**/*.ipynb"),
                cells=[lsp.NotebookCellLanguage(language="python")],
            )
        ],
        save=True,
    )
}


def register(server: LanguageServer, parts: Parts) -> None:
    documents, text_changes = parts.documents, parts.text_changes
    documents.composites = notebooks = OpenNotebooks(documents)

    def module_of(uri: str) -> tuple[Path | None, Path | None]:
        """The module of a notebook, and its workspace folder."""
        opened = notebooks.of_file(uri)
        module = opened.paths[0] if opened is not None else None
        return module, documents.root_of(module) if module is not None else None

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenNotebookDocumentParams) -> None:
        module, root = module_of(params.notebook_document.uri)
        text_changes.notice(module)
        notebook = notebooks.at(module) if module is not None else None
        if root is not None and notebook is not None:
            # Runs of an earlier server can be restored only once the cells are open.
            parts.tasks.spawn(parts.events.begin([root], notebook.paths))

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeNotebookDocumentParams) -> None:
        text_changes.notice(module_of(params.notebook_document.uri)[0])

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(_params: lsp.DidSaveNotebookDocumentParams) -> None:
        locations.clear_cache()
        parts.store.update_all()

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseNotebookDocumentParams) -> None:
        closed_uris = {each.uri for each in params.cell_text_documents}
        module, root = module_of(params.notebook_document.uri)
        if root is not None and module is not None:
            for callback in parts.events.on_composite_close:
                callback(root, module.relative_to(root).as_posix())
        text_changes.end_questions(closed_uris)
        parts.store.update_all()
        documents.notify_changed()
        text_changes.cancel_unless_reopened(closed_uris)
