"""textDocument/did…: keeps what is shown in step with the open documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.documents import locations
from greenloop.lsp.parts import Parts


def register(server: LanguageServer, parts: Parts) -> None:
    store, text_changes, events = parts.store, parts.text_changes, parts.events
    documents, conflicts = parts.documents, parts.documents.conflicts

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        # Some editors rename a file by closing it and opening another, without any other message.
        store.update_all()
        path = path_of(uri)
        if path is not None:
            conflicts.note_open(path)
            store.republish(path)
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
