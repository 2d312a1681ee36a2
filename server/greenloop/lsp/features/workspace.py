"""workspace/did…: changed settings, files and folders."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.api.settings import APP
from greenloop.lsp.connection.client import Client
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.disk import path_of
from greenloop.lsp.editor import Editor
from greenloop.lsp.parts import Parts

SOURCES = "**/*.py"
_PATTERN = lsp.FileOperationPattern(glob="**/*")
_OPTIONS = lsp.FileOperationRegistrationOptions(filters=[lsp.FileOperationFilter(pattern=_PATTERN, scheme="file")])


def register(server: LanguageServer, parts: Parts) -> None:
    runs, store, events = parts.runs, parts.store, parts.events
    documents, settings, tasks = parts.documents, parts.settings, parts.tasks

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def settings_changed(params: lsp.DidChangeConfigurationParams) -> None:
        settings.from_client.push(params.settings)
        tasks.spawn(settings.request())

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

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.added:
            # pygls has removed a folder that was added and removed at once, such as a renamed one.
            if unquote(folder.uri) not in documents.folders:
                documents.add_folder(folder)
        roots = documents.roots()
        removed = [path for folder in params.event.removed if (path := path_of(folder.uri)) is not None]
        for root in set(removed) - set(roots):
            tasks.spawn(end_folder(root))
        added = [path for folder in params.event.added if (path := path_of(folder.uri)) in roots and path is not None]
        if added:
            tasks.spawn(begin_folders(added))

    async def begin_folders(roots: Sequence[Path]) -> None:
        await settings.request()
        await events.begin(roots)

    async def end_folder(root: Path) -> None:
        """Ends the runs of a removed folder, and removes their diagnostics and the folder's sandbox."""
        folder_runs = [run for run in runs if run.root == root]
        runs.cancel(lambda run: run.root == root)
        events.cancel(root)
        await asyncio.gather(*(run.is_over.wait() for run in folder_runs if run.running))
        for run in folder_runs:
            store.put(run, {})
            runs.discard(run)
        store.remove_folder(root)
        await parts.engines.pool.close_workspace(root)


async def request_settings(editor: Editor) -> None:
    """After the handshake: registers for changes, pulls the settings, reports faults in them."""
    if editor.client.capabilities.watch_configuration:
        work = editor.client.register_for(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, {"section": APP})
        editor.tasks.spawn(work)
    await editor.settings.request()


async def watch_files(client: Client) -> None:
    """Registers for changes of files outside the editor, where it declared support."""
    if client.capabilities.watch_files:
        watchers = [lsp.FileSystemWatcher(glob_pattern=SOURCES)]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
        await client.register_for(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
