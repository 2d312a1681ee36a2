"""notebookDocument/did…: handles changes of notebooks, whose cells are documents like others.

Rows of cells belong to `documents/notebooks.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.lsp.documents import locations
from greenloop.lsp.features import lifecycle
from greenloop.lsp.runs import restore
from greenloop.lsp.runs.questions import Answer

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    def notice_module(uri: str) -> Path | None:
        path = server.documents.path_of(uri)
        module_path = server.documents.module_of(path) if path else None
        lifecycle.noticed(server, module_path)
        return module_path

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenNotebookDocumentParams) -> None:
        module_path = notice_module(params.notebook_document.uri)
        root = server.documents.root_of(module_path) if module_path else None
        book = server.documents.book_at(module_path) if module_path else None
        if root is not None and book is not None:
            # Runs of an earlier server can be restored only once the cells are open.
            server.runs.spawn(restore.look(server, [root], book.paths))

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeNotebookDocumentParams) -> None:
        notice_module(params.notebook_document.uri)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(_params: lsp.DidSaveNotebookDocumentParams) -> None:
        locations.forget()
        server.board.looked()

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseNotebookDocumentParams) -> None:
        closed_uris = {each.uri for each in params.cell_text_documents}
        path = server.documents.path_of(params.notebook_document.uri)
        module_path = server.documents.module_of(path) if path else None
        root = server.documents.root_of(module_path) if module_path else None
        if root is not None and module_path is not None:
            # The results of its tests would not be visible.
            server.checks.leave(root, module_path.relative_to(root).as_posix())
        for run in server.runs:
            if run.question is not None and run.uri in closed_uris:
                run.question.end(Answer())
        server.board.looked()
        server.documents.changed()
        lifecycle.left(server, closed_uris)
