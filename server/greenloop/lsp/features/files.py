"""Renamed, deleted or externally changed files: their diagnostics move or are removed."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.lsp.connection import client_requests
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.disk import path_of

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

SOURCES = "**/*.py"
_PATTERN = lsp.FileOperationPattern(glob="**/*")
_OPTIONS = lsp.FileOperationRegistrationOptions(filters=[lsp.FileOperationFilter(pattern=_PATTERN, scheme="file")])


def register(server: Server) -> None:
    def forget(uri: str) -> None:
        path = path_of(uri)
        if path is not None:
            server.board.gone(path)

    @server.feature(lsp.WORKSPACE_DID_RENAME_FILES, _OPTIONS)
    def renamed(params: lsp.RenameFilesParams) -> None:
        for file in params.files:
            forget(file.old_uri)
        locations.forget()

    @server.feature(lsp.WORKSPACE_DID_DELETE_FILES, _OPTIONS)
    def deleted(params: lsp.DeleteFilesParams) -> None:
        for file in params.files:
            forget(file.uri)
        locations.forget()

    @server.feature(lsp.WORKSPACE_DID_CREATE_FILES, _OPTIONS)
    def created(_params: lsp.CreateFilesParams) -> None:
        locations.forget()
        server.board.looked()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: lsp.DidChangeWatchedFilesParams) -> None:
        locations.forget()
        for change in params.changes:
            path = path_of(change.uri)
            if path is not None:
                server.board.changed(path)


async def watch(server: Server) -> None:
    """Registers for changes of files outside the editor, where it declared support."""
    if not server.abilities.watch_files:
        return
    watchers = [lsp.FileSystemWatcher(glob_pattern=SOURCES)]
    registration = lsp.Registration(
        id=str(uuid.uuid4()),
        method=lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=lsp.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
    )
    params = lsp.RegistrationParams(registrations=[registration])
    await client_requests.bounded(server.client_register_capability_async(params), client_requests.SOON, "to register")
