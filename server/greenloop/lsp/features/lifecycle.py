"""initialize, initialized, shutdown."""

from __future__ import annotations

import asyncio
import importlib

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.client_settings import section
from greenloop.lsp.connection.client import read_capabilities
from greenloop.lsp.features import troubleshooting, workspace
from greenloop.lsp.parts import Parts


def register(server: LanguageServer, parts: Parts) -> None:
    client, documents, settings, tasks = parts.client, parts.documents, parts.settings, parts.tasks

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        client_name = params.client_info.name if params.client_info else ""
        client.capabilities = read_capabilities(params.capabilities, client_name)
        documents.conflicts.reports_saves = client.capabilities.saves
        default_workspace = server.workspace
        documents.begin(
            default_workspace.root_uri, list(default_workspace.folders.values()), default_workspace.position_encoding
        )
        # pygls offers no public way to replace its workspace.
        server.protocol._workspace = documents  # noqa: SLF001
        settings.from_client.initial = section(params.initialization_options)
        parts.process_end.watch(params.process_id)

    @server.feature(lsp.INITIALIZED)
    def initialized(_params: lsp.InitializedParams) -> None:
        troubleshooting.forward_log(client)
        # Clears a view that shows the runs of an earlier server.
        parts.runs.notify_list_changed()
        settings.received.clear()
        tasks.spawn(begin())
        tasks.spawn(workspace.watch_files(client))
        # The first code action should not wait for the import of the parser.
        tasks.spawn(import_parser())

    @server.feature(lsp.SHUTDOWN)
    async def shutdown(_params: None) -> None:
        await parts.process_end.clean_up()

    async def begin() -> None:
        await workspace.request_settings(parts.editor)
        await parts.events.begin(documents.roots())

    async def import_parser() -> None:
        await asyncio.to_thread(importlib.import_module, "greenloop.project.targets")
