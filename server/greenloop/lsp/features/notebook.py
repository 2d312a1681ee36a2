"""notebookDocument/did…: a notebook's cells are documents like others; here it is noticed that they changed.

Which rows they have and what moves with them is `documents.py`'s business.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.lsp import places, restart
from greenloop.lsp.features import lifecycle
from greenloop.lsp.questions import Answer

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    def module(uri: str) -> Path | None:
        path = server.documents.path_of(uri)
        found = server.documents.module_of(path) if path else None
        lifecycle.noticed(server, found)
        return found

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenNotebookDocumentParams) -> None:
        found = module(params.notebook_document.uri)
        root = server.documents.root_of(found) if found else None
        book = server.documents.book_at(found) if found else None
        if root is not None and book is not None:
            # What an earlier server left can be told only where there are cells.
            server.runs.spawn(restart.look(server, [root], book.paths))

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
        path = server.documents.path_of(params.notebook_document.uri)
        found = server.documents.module_of(path) if path else None
        root = server.documents.root_of(found) if found else None
        if root is not None and found is not None:
            # Nobody looks at what its tests would say any more.
            server.checks.leave(root, found.relative_to(root).as_posix())
        for run in server.runs:
            if run.question is not None and run.uri in gone:
                run.question.end(Answer())
        server.board.looked()
        server.documents.changed()
        lifecycle.left(server, gone)
