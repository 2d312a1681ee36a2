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
from greenloop.lsp.connection.stdio import Inbox, Outbox, take_stdio
from greenloop.lsp.documents.disk_conflicts import DiskConflicts
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.engines import Engine, Engines
from greenloop.lsp.features import (
    answer,
    attempts,
    choices,
    code_action,
    code_lens,
    completing,
    configuration,
    doctor,
    document_sync,
    files,
    folders,
    hover,
    lifecycle,
    notebook,
    pull_model,
    refine,
    refine_all,
    run_test,
    show_log,
    show_tests,
)
from greenloop.lsp.features.runs import RunPublisher
from greenloop.lsp.presenters.diagnostics import RunDiagnostics
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.presenters.notifications import RunNotifications
from greenloop.lsp.presenters.pages import Pages
from greenloop.lsp.presenters.refusals import Refusals
from greenloop.lsp.presenters.test_diagnostics import FailingTests
from greenloop.lsp.process_end import ProcessEnd
from greenloop.lsp.runs.apply_edit import EditApplier
from greenloop.lsp.runs.available_actions import AvailableActions
from greenloop.lsp.runs.background_tasks import LongTasks
from greenloop.lsp.runs.confirm_apply import ApplyConfirmation
from greenloop.lsp.runs.drive import RunDriver
from greenloop.lsp.runs.edit_plan import EditPlanner
from greenloop.lsp.runs.editor_model import AnswerStreams
from greenloop.lsp.runs.model_setup import ModelSetup
from greenloop.lsp.runs.prewarm import Prewarmer
from greenloop.lsp.runs.restore import RunRestorer
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.runs.start import RunStarter
from greenloop.lsp.runs.text_changes import TextChanges
from greenloop.lsp.state.results import TestResults
from greenloop.lsp.tasks import Tasks
from greenloop.lsp.testing.commands import TestCommands
from greenloop.lsp.testing.scheduler import TestScheduler

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


class Server(LanguageServer):
    """pygls' server and the parts of greenloop's. Only this module knows all of them; each gets what it uses."""

    protocol: jsonrpc.Protocol

    def __init__(self, engine: Engine | None = None) -> None:
        super().__init__(
            "greenloop",
            __version__,
            notebook_document_sync=NOTEBOOKS,
            protocol_cls=jsonrpc.Protocol,
            converter_factory=default_converter,
        )
        # What the parts stand on.
        self.tasks = Tasks()
        self.client = client = Client(self)
        self.documents = documents = Documents()
        self.conflicts = DiskConflicts()
        self.settings = SettingsLoader(client, documents)
        self.engines = Engines(engine)
        self.protocol.on_unreadable = self._mark_unreadable
        # What is known, and how it is shown.
        self.results = TestResults()
        self.runs = Runs(self.tasks)
        self.store = DiagnosticsStore(client, documents)
        self.runs.batch = self.store.batch
        self.run_diagnostics = RunDiagnostics(self.store, client, documents, self.runs)
        self.failing_tests = FailingTests(self.store, client, documents, self.runs, self.run_diagnostics)
        self.refusals = Refusals(self.store, documents)
        self.notifications = RunNotifications(client, documents, self.tasks)
        self.pages = Pages(client, documents)
        # Runs.
        self.planner = EditPlanner(client, documents, self.conflicts)
        self.applier = EditApplier(client, documents, self.planner, self.engines, self.runs)
        self.streams = AnswerStreams()
        self.driver = RunDriver(
            client,
            documents,
            self.settings,
            self.engines,
            self.tasks,
            self.runs,
            self.store,
            self.run_diagnostics,
            self.failing_tests,
            self.notifications,
            ModelSetup(client, self.runs, self.streams),
            ApplyConfirmation(client, documents, self.planner, self.pages, self.runs),
            self.applier,
        )
        self.starter = RunStarter(client, documents, self.settings, self.refusals, self.driver)
        self.restorer = RunRestorer(client, documents, self.settings, self.runs, self.store)
        self.prewarmer = Prewarmer(self.engines, self.settings, self.runs, self.tasks)
        self.long_tasks = LongTasks(client, self.tasks)
        # Tests run on their own.
        self.scheduler = TestScheduler(client, documents, self.engines, self.tasks, self.results, self.failing_tests)
        self.test_commands = TestCommands(client, documents, self.settings, self.scheduler)
        self._register()

    def _register(self) -> None:
        """Registers every feature with the parts that it uses."""
        client, documents, settings, tasks = self.client, self.documents, self.settings, self.tasks
        runs, results, store, run_diagnostics = self.runs, self.results, self.store, self.run_diagnostics
        text_changes = TextChanges(documents, store, runs, self.applier, self.notifications, run_diagnostics, tasks)
        available = AvailableActions(client, runs, results, self.planner, self.applier)
        events, publisher = document_sync.DocumentEvents(), RunPublisher(client, runs)
        refresher = code_lens.LensRefresher(client, tasks)
        results.on_changed = settings.on_changed = refresher.schedule
        runs.on_list_changed.append(refresher.schedule)

        lifecycle.register(
            self,
            client,
            documents,
            self.conflicts,
            settings,
            tasks,
            self.restorer,
            publisher,
            ProcessEnd(self, tasks, self.engines),
        )
        configuration.register(self, settings, tasks)
        document_sync.register(self, events, documents, self.conflicts, tasks, store, self.restorer, text_changes)
        notebook.register(self, documents, tasks, store, self.restorer, text_changes, self.scheduler)
        files.register(self, store)
        folders.register(self, documents, settings, self.engines, tasks, runs, store, self.scheduler, self.restorer)
        code_action.register(self, client, documents, runs, store, available, self.prewarmer)
        code_lens.register(self, documents, settings, runs, results, refresher)
        hover.register(self, client, documents, runs, results)
        refine.register(
            self,
            client,
            documents,
            tasks,
            runs,
            run_diagnostics,
            self.failing_tests,
            self.refusals,
            self.starter,
            self.driver,
            self.scheduler,
            self.long_tasks,
        )
        refine_all.register(self, client, documents, tasks, store, self.test_commands, self.starter)
        run_test.register(self, events, documents, settings, tasks, self.scheduler, self.test_commands, self.prewarmer)
        answer.register(self, client, documents, runs)
        attempts.register(self, client, documents, tasks, runs, run_diagnostics, self.pages)
        show_tests.register(self, client, documents, tasks, runs)
        show_log.register(self, client, tasks)
        completing.register(self, self.streams)
        choices.register(self, client, documents, settings)
        doctor.register(self, client, documents, settings, self.long_tasks, self.pages)
        pull_model.register(self, client, documents, settings, self.long_tasks)

    def _mark_unreadable(self, method: str, params: Any) -> None:
        """Marks a document's text as unknown after a message about it could not be read."""
        identifier = params.get("textDocument") if isinstance(params, Mapping) else None
        uri = identifier.get("uri") if isinstance(identifier, Mapping) else None
        if method in _TEXTS and isinstance(uri, str) and (path := self.documents.path_of(uri)) is not None:
            self.conflicts.mark_unknown(path)

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


def create_server(engine: Engine | None = None) -> Server:
    """A server with every feature; tests pass a stand-in as `engine`."""
    return Server(engine)


def serve(server: Server | None = None, *, log_level: str = "", log_file: str = "") -> int:
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
    return 0 if server.protocol._shutdown else 1  # noqa: SLF001 - pygls keeps the only record of it
