"""The language server: makes its parts, connects them, and talks on standard streams.

Everything slow to import (the engine and its dependencies) is imported at the first run, in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
from collections.abc import Mapping
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInternalError
from pygls.io_ import StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from greenloop import __version__
from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.connection import jsonrpc, logs
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.inbox import Inbox
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.editor import Editor
from greenloop.lsp.engines import Engines, RunEngine
from greenloop.lsp.features import (
    agent_requests,
    attempts,
    code_action,
    code_lens,
    document_sync,
    hover,
    lifecycle,
    models,
    refine,
    run_test,
    troubleshooting,
    workspace,
)
from greenloop.lsp.features.runs import RunPublisher
from greenloop.lsp.presenters.diagnostics import RunDiagnostics
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.presenters.refusals import RequestErrors
from greenloop.lsp.presenters.test_diagnostics import FailingTests
from greenloop.lsp.process_end import ProcessEnd
from greenloop.lsp.runs.apply_edit import EditApplier
from greenloop.lsp.runs.available_actions import AvailableActions
from greenloop.lsp.runs.background_tasks import LongTasks, Prewarmer
from greenloop.lsp.runs.drive import RunDriver
from greenloop.lsp.runs.earlier_runs import RunRestorer
from greenloop.lsp.runs.editor_model import AnswerStreams
from greenloop.lsp.runs.goals import GoalChoices
from greenloop.lsp.runs.requests import RunStarter
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.runs.text_changes import TextChanges
from greenloop.lsp.state.results import TestResults
from greenloop.lsp.tasks import Tasks
from greenloop.lsp.testing.commands import TestCommands
from greenloop.lsp.testing.scheduler import TestScheduler
from greenloop.serving.stdio import Outbox, take_stdio

log = logging.getLogger(__name__)

NOTEBOOKS = lsp.NotebookDocumentSyncOptions(
    notebook_selector=[
        lsp.NotebookDocumentFilterWithNotebook(
            notebook=lsp.NotebookDocumentFilterPattern(pattern="**/*.ipynb"),
            cells=[lsp.NotebookCellLanguage(language="python")],
        )
    ],
    save=True,
)

# The messages that carry the text of an open file.
_TEXTS = (lsp.TEXT_DOCUMENT_DID_OPEN, lsp.TEXT_DOCUMENT_DID_CHANGE)


class GreenloopServer(LanguageServer):
    """pygls' server and the parts of greenloop's. Only this module knows all of them; each gets what it uses."""

    protocol: jsonrpc.Protocol

    def __init__(self, engine: RunEngine | None = None) -> None:
        super().__init__(
            "greenloop",
            __version__,
            notebook_document_sync=NOTEBOOKS,
            protocol_cls=jsonrpc.Protocol,
            converter_factory=default_converter,
        )
        # What the parts stand on.
        self.tasks, self.client, self.documents = Tasks(), Client(self), Documents()
        self.settings = SettingsLoader(self.client, self.documents)
        self.editor = editor = Editor(
            client=self.client, documents=self.documents, settings=self.settings, tasks=self.tasks
        )
        self.engines = Engines(engine)
        self.protocol.on_unreadable = self._mark_unreadable
        # What is known, and how it is shown.
        self.results = TestResults()
        self.runs = Runs(self.tasks)
        self.store = DiagnosticsStore(editor)
        self.runs.batch = self.store.batch
        self.run_diagnostics = RunDiagnostics(editor, self.store, self.runs)
        self.failing_tests = FailingTests(editor, self.store, self.runs, self.run_diagnostics)
        self.refusals = RequestErrors(self.store, self.documents)
        # Runs.
        self.applier = EditApplier(editor, self.engines, self.runs)
        self.streams = AnswerStreams()
        self.driver = RunDriver(
            editor, self.engines, self.runs, self.run_diagnostics, self.failing_tests, self.applier, self.streams
        )
        self.goals = GoalChoices(self.settings, self.runs, self.results)
        self.starter = RunStarter(editor, self.refusals, self.driver)
        self.restorer = RunRestorer(editor, self.runs, self.store)
        self.prewarmer = Prewarmer(editor, self.engines, self.runs)
        self.long_tasks = LongTasks(editor)
        # Tests run on their own.
        self.scheduler = TestScheduler(editor, self.engines, self.results, self.failing_tests)
        self.test_commands = TestCommands(editor, self.scheduler)
        self._register()

    def _register(self) -> None:
        """Registers every feature with the parts that it uses."""
        editor, runs, results, store = self.editor, self.runs, self.results, self.store
        text_changes = TextChanges(editor, store, runs, self.applier, self.run_diagnostics)
        available = AvailableActions(editor, runs, results, self.goals, self.applier)
        events, publisher = document_sync.DocumentEvents(), RunPublisher(self.client, runs)
        refresher = code_lens.LensRefresher(editor)
        results.on_changed = self.settings.on_changed = refresher.schedule
        runs.on_list_changed.append(refresher.schedule)

        process_end = ProcessEnd(self, self.tasks, self.engines)
        lifecycle.register(self, editor, self.restorer, publisher, process_end)
        document_sync.register(self, editor, events, store, self.restorer, text_changes, self.scheduler)
        workspace.register(self, editor, self.engines, runs, store, self.scheduler, self.restorer)
        code_action.register(self, editor, runs, store, available, self.prewarmer)
        code_lens.register(self, editor, runs, results, refresher)
        hover.register(self, editor, runs, results)
        refine.register(
            self,
            editor,
            runs,
            self.run_diagnostics,
            self.failing_tests,
            self.refusals,
            self.starter,
            self.driver,
            self.scheduler,
            self.long_tasks,
        )
        run_test.register(self, editor, events, self.scheduler, self.test_commands, self.prewarmer)
        run_test.register_refine_all(self, editor, store, self.test_commands, self.starter)
        attempts.register(self, editor, runs, self.run_diagnostics)
        models.register(self, editor, self.goals, self.streams, self.long_tasks)
        troubleshooting.register(self, editor, self.long_tasks)
        agent_requests.register(self, editor, self.engines)

    def _mark_unreadable(self, method: str, params: Any) -> None:
        """Marks a document's text as unknown after a message about it could not be read."""
        identifier = params.get("textDocument") if isinstance(params, Mapping) else None
        uri = identifier.get("uri") if isinstance(identifier, Mapping) else None
        if method in _TEXTS and isinstance(uri, str) and (path := self.documents.path_of(uri)) is not None:
            self.documents.conflicts.mark_unknown(path)

    def converse(self, inbox: Inbox, outbox: Outbox) -> None:
        """Handles messages until the input ends or the client sends `exit`."""
        self.client.outbox = outbox
        self.protocol.set_writer(StdoutWriter(outbox.binary()))
        # pygls exits with SystemExit.
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            asyncio.run(self._receive(inbox))
        self.shutdown()  # type: ignore[no-untyped-call]

    async def _receive(self, inbox: Inbox) -> None:
        loop = asyncio.get_running_loop()
        while (body := await loop.run_in_executor(self.thread_pool, inbox.read)) is not None:
            try:
                self.protocol.receive(body)
            except Exception:
                # Message boundary: a message that cannot be handled must not stop the next.
                log.exception("A message could not be handled")

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Logs faults in a client's messages, which pygls would show to the user."""
        kind, name = type(error).__name__, getattr(source, "__name__", source)
        # A fault of the client has no useful traceback.
        log.error("%s while handling a message (%s)", kind, name, exc_info=isinstance(error, JsonRpcInternalError))


def create_server(engine: RunEngine | None = None) -> GreenloopServer:
    """A server with every feature; tests pass a stand-in as `engine`."""
    return GreenloopServer(engine)


def serve(server: GreenloopServer | None = None, *, log_level: str = "", log_file: str = "") -> int:
    """Speaks LSP on standard input and output until the client ends it; 0 after `shutdown` and `exit`, else 1.

    Raises `UsageError` where the log file cannot be written.
    """
    source, sink = take_stdio()
    logs.start(level=log_level, file=log_file)
    server = server or create_server()
    # Imported objects live as long as the process; without this every collection traverses them (30 ms).
    gc.freeze()
    # SIGTERM, so that runs are cancelled and sandboxes closed.
    outbox = Outbox(sink, on_give_up=lambda: signal.raise_signal(signal.SIGTERM))
    server.converse(Inbox(source), outbox)
    outbox.close()
    # What runs imported since then (litellm) would be collected at the end of the interpreter, for a second.
    gc.freeze()
    return 0 if server.protocol._shutdown else 1  # noqa: SLF001 - pygls keeps the only record of it
