"""Files that are renamed, deleted or changed by others than the editor: what they show follows or goes."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.lsp import client, places
from greenloop.lsp.disk import path_of

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

SOURCES = "**/*.py"
_PATTERN = lsp.FileOperationPattern(glob="**/*")
_OPTIONS = lsp.FileOperationRegistrationOptions(filters=[lsp.FileOperationFilter(pattern=_PATTERN, scheme="file")])


def register(server: Server) -> None:
    def elsewhere(uri: str) -> None:
        path = path_of(uri)
        if path is not None:
            server.board.gone(path)

    @server.feature(lsp.WORKSPACE_DID_RENAME_FILES, _OPTIONS)
    def renamed(params: lsp.RenameFilesParams) -> None:
        for file in params.files:
            elsewhere(file.old_uri)
        places.forget()

    @server.feature(lsp.WORKSPACE_DID_DELETE_FILES, _OPTIONS)
    def deleted(params: lsp.DeleteFilesParams) -> None:
        for file in params.files:
            elsewhere(file.uri)
        places.forget()

    @server.feature(lsp.WORKSPACE_DID_CREATE_FILES, _OPTIONS)
    def created(_params: lsp.CreateFilesParams) -> None:
        places.forget()
        server.board.looked()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def touched(params: lsp.DidChangeWatchedFilesParams) -> None:
        places.forget()
        for change in params.changes:
            path = path_of(change.uri)
            if path is not None:
                server.board.changed(path)


async def watch(server: Server) -> None:
    """Asks to be told of files that change beside the editor, where it declared that it can."""
    if not server.abilities.watch_files:
        return
    watchers = [lsp.FileSystemWatcher(glob_pattern=SOURCES)]
    registration = lsp.Registration(
        id=str(uuid.uuid4()),
        method=lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=lsp.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
    )
    params = lsp.RegistrationParams(registrations=[registration])
    await client.bounded(server.client_register_capability_async(params), client.SOON, "to register")
