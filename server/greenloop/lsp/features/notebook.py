"""notebookDocument/did…: a notebook's cells are documents like others; here it is noticed that they changed.

Which rows they have and what moves with them is `documents.py`'s business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.lsp import places
from greenloop.lsp.features import lifecycle
from greenloop.lsp.questions import Answer

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    def module(uri: str) -> None:
        path = server.documents.path_of(uri)
        lifecycle.noticed(server, server.documents.module_of(path) if path else None)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenNotebookDocumentParams) -> None:
        module(params.notebook_document.uri)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeNotebookDocumentParams) -> None:
        module(params.notebook_document.uri)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(_params: lsp.DidSaveNotebookDocumentParams) -> None:
        places.forget()
        server.board.looked()

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseNotebookDocumentParams) -> None:
        gone = {each.uri for each in params.cell_text_documents}
        for run in server.runs:
            if run.question is not None and run.uri in gone:
                run.question.end(Answer())
        server.board.looked()
        server.documents.changed()
        lifecycle.left(server, gone)
