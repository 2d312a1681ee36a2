"""Workspace folders that come and go: of a new one everything is asked for, of one that went nothing is left."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types as lsp

from greenloop.lsp import restart
from greenloop.lsp.disk import path_of
from greenloop.lsp.features import configuration

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def changed(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.added:
            # Added and removed at once, such as one that got another name: pygls has taken it away again.
            if unquote(folder.uri) not in server.documents.folders:
                server.documents.add_folder(folder)
        here = server.documents.roots()
        gone = [path for folder in params.event.removed if (path := path_of(folder.uri)) is not None]
        for root in set(gone) - set(here):
            server.runs.spawn(_left(server, root))
        fresh = [path for folder in params.event.added if (path := path_of(folder.uri)) in here and path is not None]
        if fresh:
            server.runs.spawn(_came(server, fresh))


async def _came(server: Server, roots: Sequence[Path]) -> None:
    await configuration.ask(server)
    await restart.look(server, roots)


async def _left(server: Server, root: Path) -> None:
    """The user closed this folder: its runs end, what they showed goes, and so does its sandbox."""
    own = [run for run in server.runs if run.root == root]
    server.runs.cancel(lambda run: run.root == root)
    server.checks.cancel(root)
    await asyncio.gather(*(run.over.wait() for run in own if run.running))
    for run in own:
        server.board.put(run, {})
        server.runs.discard(run)
    server.board.clear(root)
    await server.keeper.leave(root)
