"""textDocument/did… and notebookDocument/did…: keeps what is shown in step with the open documents.

The cells of a notebook are documents like others; their rows belong to `documents/notebooks.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.documents import locations
from greenloop.lsp.parts import Parts


def register(server: LanguageServer, parts: Parts) -> None:
    store, text_changes, events = parts.store, parts.text_changes, parts.events
    documents, tasks, conflicts = parts.documents, parts.tasks, parts.documents.conflicts

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        # Some editors rename a file by closing it and opening another, without any other message.
        store.update_all()
        path = path_of(uri)
        if path is not None:
            conflicts.note_open(path)
            store.republish(path)
            if documents.root_of(path) is None:
                tasks.spawn(parts.restorer.restore_outside(uri))
        text_changes.notice(path)
        for callback in events.on_open:
            callback(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            note_change(path, params.content_changes)
        text_changes.notice(path)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        text_changes.end_questions([uri])
        for callback in events.on_close:
            callback(uri)
        store.update_all()
        path = path_of(uri)
        if path is not None:
            # Unsaved changes are gone: from now on the text on disk counts.
            store.republish(path)
            if documents.document_at(path) is None:
                conflicts.note_close(path)
        text_changes.notice(path)
        text_changes.cancel_unless_reopened([uri])

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        uri = params.text_document.uri
        path = path_of(uri)
        if path is not None:
            conflicts.note_save(path)
        locations.clear_cache()
        for callback in events.on_save:
            callback(uri)
        store.update_all()

    def path_of(uri: str) -> Path | None:
        located = documents.file_of(uri)
        return located[0] if located is not None else None

    def note_change(path: Path, changes: Sequence[lsp.TextDocumentContentChangeEvent]) -> None:
        document = documents.document_at(path)
        if document is None:
            conflicts.note_change_of_closed(path)
            return
        if any(isinstance(change, lsp.TextDocumentContentChangeWholeDocument) for change in changes):
            conflicts.mark_known(path)
        conflicts.note_change(path, document.source)

    def notice_module(uri: str) -> Path | None:
        path = documents.path_of(uri)
        module_path = documents.module_of(path) if path else None
        text_changes.notice(module_path)
        return module_path

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(params: lsp.DidOpenNotebookDocumentParams) -> None:
        module_path = notice_module(params.notebook_document.uri)
        root = documents.root_of(module_path) if module_path else None
        notebook = documents.notebook_at(module_path) if module_path else None
        if root is not None and notebook is not None:
            # Runs of an earlier server can be restored only once the cells are open.
            tasks.spawn(parts.restorer.restore([root], notebook.paths))

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_changed(params: lsp.DidChangeNotebookDocumentParams) -> None:
        notice_module(params.notebook_document.uri)

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(_params: lsp.DidSaveNotebookDocumentParams) -> None:
        locations.clear_cache()
        store.update_all()

    @server.feature(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(params: lsp.DidCloseNotebookDocumentParams) -> None:
        closed_uris = {each.uri for each in params.cell_text_documents}
        path = documents.path_of(params.notebook_document.uri)
        module_path = documents.module_of(path) if path else None
        root = documents.root_of(module_path) if module_path else None
        if root is not None and module_path is not None:
            for callback in parts.events.on_notebook_close:
                callback(root, module_path.relative_to(root).as_posix())
        text_changes.end_questions(closed_uris)
        store.update_all()
        documents.notify_changed()
        text_changes.cancel_unless_reopened(closed_uris)
