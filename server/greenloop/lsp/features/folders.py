"""Added and removed workspace folders: loads settings and runs of the new, ends all of the removed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types as lsp

from greenloop.lsp.documents.disk import path_of
from greenloop.lsp.features import configuration
from greenloop.lsp.runs import restore

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def changed(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.added:
            # pygls has removed a folder that was added and removed at once, such as a renamed one.
            if unquote(folder.uri) not in server.documents.folders:
                server.documents.add_folder(folder)
        roots = server.documents.roots()
        removed = [path for folder in params.event.removed if (path := path_of(folder.uri)) is not None]
        for root in set(removed) - set(roots):
            server.runs.spawn(_left(server, root))
        added = [path for folder in params.event.added if (path := path_of(folder.uri)) in roots and path is not None]
        if added:
            server.runs.spawn(_came(server, added))


async def _came(server: Server, roots: Sequence[Path]) -> None:
    await configuration.ask(server)
    await restore.look(server, roots)


async def _left(server: Server, root: Path) -> None:
    """Ends the runs of a removed folder, and removes their diagnostics and the folder's sandbox."""
    folder_runs = [run for run in server.runs if run.root == root]
    server.runs.cancel(lambda run: run.root == root)
    server.checks.cancel(root)
    await asyncio.gather(*(run.over.wait() for run in folder_runs if run.running))
    for run in folder_runs:
        server.board.put(run, {})
        server.runs.discard(run)
    server.board.clear(root)
    await server.pool.close_workspace(root)
