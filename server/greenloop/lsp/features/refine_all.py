"""`greenloop.refineAll`: runs the tests of a file or class, then refines each failing one."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import RefineParams
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.runs.start import RunStarter
from greenloop.lsp.state.results import test_of
from greenloop.lsp.tasks import Tasks
from greenloop.lsp.testing.commands import TestCommands
from greenloop.lsp.testing.requests import TestRequest

log = logging.getLogger(__name__)

# Runs that are started before the editor is served again, and whose diagnostics are published together.
STARTED_TOGETHER = 10


def register(
    server: LanguageServer,
    client: Client,
    documents: Documents,
    tasks: Tasks,
    store: DiagnosticsStore,
    test_commands: TestCommands,
    starter: RunStarter,
) -> None:
    @server.command("greenloop.refineAll")
    def refine_all(*arguments: Any) -> None:
        tasks.spawn(refine_failing(test_commands.start(arguments)))

    async def refine_failing(request: TestRequest) -> None:
        """Starts a refinement for each failing test; at most `editor.runs` of them work at once."""
        summary = await test_commands.wait(request)
        if summary is None:
            return
        failing = tuple(dict.fromkeys(test_of(result.id) for result in summary.failing))
        if not failing:
            test_commands.show(request, summary)
            return
        test_count = len({test_of(result.id) for result in summary.results})
        client.show_message(_message(len(failing), test_count, request.settings.editor.runs))
        for first in range(0, len(failing), STARTED_TOGETHER):
            # A batch that was kept open while others work would hide their diagnostics too.
            with store.batch():
                for test in failing[first : first + STARTED_TOGETHER]:
                    start(request, test)
            # There may be hundreds, while the user types.
            await asyncio.sleep(0)

    def start(request: TestRequest, test: str) -> None:
        target = locations.find_target(documents, request.root, test)
        if target is not None:
            uri = locations.document_uri(documents, request.root, target)
        else:
            uri = documents.uri_of(request.root / request.path)
        try:
            starter.start(RefineParams(uri=uri, test=test))
        except JsonRpcException as error:
            log.info("%s cannot be refined: %s", test, error)


def _message(failing: int, total: int, at_once: int) -> str:
    tests = f"{'test' if total == 1 else 'tests'} {'fails' if failing == 1 else 'fail'}"
    them = "it" if failing == 1 else f"them, {at_once} at a time" if failing > at_once else "them"
    return f"{failing} of {total} {tests}; refining {them}."
