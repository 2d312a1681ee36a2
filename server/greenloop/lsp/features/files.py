"""Renamed, deleted or externally changed files: their diagnostics move or are removed."""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.connection.client import Client
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.disk import path_of
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore

SOURCES = "**/*.py"
_PATTERN = lsp.FileOperationPattern(glob="**/*")
_OPTIONS = lsp.FileOperationRegistrationOptions(filters=[lsp.FileOperationFilter(pattern=_PATTERN, scheme="file")])


def register(server: LanguageServer, store: DiagnosticsStore) -> None:
    def remove(uri: str) -> None:
        path = path_of(uri)
        if path is not None:
            store.remove_path(path)

    @server.feature(lsp.WORKSPACE_DID_RENAME_FILES, _OPTIONS)
    def renamed(params: lsp.RenameFilesParams) -> None:
        for file in params.files:
            remove(file.old_uri)
        locations.clear_cache()

    @server.feature(lsp.WORKSPACE_DID_DELETE_FILES, _OPTIONS)
    def deleted(params: lsp.DeleteFilesParams) -> None:
        for file in params.files:
            remove(file.uri)
        locations.clear_cache()

    @server.feature(lsp.WORKSPACE_DID_CREATE_FILES, _OPTIONS)
    def created(_params: lsp.CreateFilesParams) -> None:
        locations.clear_cache()
        store.update_all()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: lsp.DidChangeWatchedFilesParams) -> None:
        locations.clear_cache()
        for change in params.changes:
            path = path_of(change.uri)
            if path is not None:
                store.update(path)


async def watch(client: Client) -> None:
    """Registers for changes of files outside the editor, where it declared support."""
    if client.capabilities.watch_files:
        watchers = [lsp.FileSystemWatcher(glob_pattern=SOURCES)]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
        await client.register_for(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
