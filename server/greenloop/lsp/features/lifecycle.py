"""initialize, initialized, shutdown."""

from __future__ import annotations

import asyncio
import importlib

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.lsp.client_settings import section
from greenloop.lsp.connection.capabilities import read_capabilities
from greenloop.lsp.editor import Editor
from greenloop.lsp.features import troubleshooting, workspace
from greenloop.lsp.features.runs import RunPublisher
from greenloop.lsp.process_end import ProcessEnd
from greenloop.lsp.runs.earlier_runs import RunRestorer


def register(
    server: LanguageServer, editor: Editor, restorer: RunRestorer, publisher: RunPublisher, process_end: ProcessEnd
) -> None:
    client, documents, settings, tasks = editor.client, editor.documents, editor.settings, editor.tasks

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
        process_end.watch(params.process_id)

    @server.feature(lsp.INITIALIZED)
    def initialized(_params: lsp.InitializedParams) -> None:
        troubleshooting.forward_log(client)
        # Clears a view that shows the runs of an earlier server.
        publisher.schedule()
        settings.received.clear()
        tasks.spawn(begin())
        tasks.spawn(workspace.watch_files(client))
        # The first code action should not wait for the import of the parser.
        tasks.spawn(import_parser())

    @server.feature(lsp.SHUTDOWN)
    async def shutdown(_params: None) -> None:
        await process_end.clean_up()

    async def begin() -> None:
        await workspace.request_settings(editor)
        await restorer.restore(documents.roots())

    async def import_parser() -> None:
        await asyncio.to_thread(importlib.import_module, "greenloop.project.targets")
