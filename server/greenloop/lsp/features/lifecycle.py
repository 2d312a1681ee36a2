"""initialize, initialized, shutdown."""

from __future__ import annotations

import asyncio
import importlib

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.client_settings import SettingsLoader, section
from greenloop.lsp.connection.capabilities import read_capabilities
from greenloop.lsp.connection.client import Client
from greenloop.lsp.documents.disk_conflicts import DiskConflicts
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.features import configuration, files, show_log
from greenloop.lsp.features.runs import RunPublisher
from greenloop.lsp.process_end import ProcessEnd
from greenloop.lsp.runs.restore import RunRestorer
from greenloop.lsp.tasks import Tasks


def register(
    server: LanguageServer,
    client: Client,
    documents: Documents,
    conflicts: DiskConflicts,
    settings: SettingsLoader,
    tasks: Tasks,
    restorer: RunRestorer,
    publisher: RunPublisher,
    process_end: ProcessEnd,
) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        client.capabilities = read_capabilities(params.capabilities)
        conflicts.reports_saves = client.capabilities.saves
        default_workspace = server.workspace
        documents.begin(
            default_workspace.root_uri, list(default_workspace.folders.values()), default_workspace.position_encoding
        )
        # pygls offers no public way to replace its workspace.
        server.protocol._workspace = documents  # noqa: SLF001
        settings.from_client.initial = section(params.initialization_options)
        process_end.watch(params.process_id)

    @server.feature(lsp.INITIALIZED)
    def initialized(_params: lsp.InitializedParams) -> None:
        show_log.forward(client)
        # Clears a view that shows the runs of an earlier server.
        publisher.schedule()
        settings.received.clear()
        tasks.spawn(begin())
        tasks.spawn(files.watch(client))
        # The first code action should not wait for the import of the parser.
        tasks.spawn(import_parser())

    @server.feature(lsp.SHUTDOWN)
    async def shutdown(_params: None) -> None:
        await process_end.clean_up()

    async def begin() -> None:
        await configuration.begin(client, settings, tasks)
        await restorer.restore(documents.roots())

    async def import_parser() -> None:
        await asyncio.to_thread(importlib.import_module, "greenloop.project.targets")
