"""The language server object, which owns a connection's state, and its start on standard streams.

Everything slow to import (the engine and its dependencies) is imported at the first run, in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import itertools
import logging
import pkgutil
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInternalError
from pygls.io_ import StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from greenloop import __version__
from greenloop.core.events import Event
from greenloop.core.ports import Model, User
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Verdict
from greenloop.lsp import features
from greenloop.lsp.client_settings import Given
from greenloop.lsp.connection import jsonrpc, logs
from greenloop.lsp.connection.capabilities import Abilities
from greenloop.lsp.connection.stdio import Inbox, Outbox, take_stdio
from greenloop.lsp.diagnostics_store import Board
from greenloop.lsp.documents.disk_conflicts import Freshness
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters import diagnostics
from greenloop.lsp.presenters.progress import Bar
from greenloop.lsp.runs.background_tasks import Errands
from greenloop.lsp.runs.runs import Run, Runs
from greenloop.lsp.testing.results import Results
from greenloop.lsp.testing.scheduler import Checks
from greenloop.project.settings import Settings
from greenloop.sandboxes.pool import SandboxPool

if TYPE_CHECKING:
    from greenloop.engine.refine import Request
    from greenloop.engine.run_tests import Report

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


class Engine(Protocol):
    """Interface of the module `greenloop.engine.refine`, or of a stand-in with the same functions."""

    async def refine(
        self,
        request: Request,
        *,
        settings: Settings,
        emit: Callable[[Event], None],
        report_status: Callable[[str], None] = ...,
        user: User | None = None,
        opener: Callable[[str, Settings], Model] | None = None,
        pool: SandboxPool | None = None,
    ) -> Outcome: ...

    async def warm(self, root: Path, settings: Settings, pool: SandboxPool) -> None: ...

    async def reverify(self, problem: Problem, files: Mapping[str, bytes], *, settings: Settings) -> Verdict: ...


class Tester(Protocol):
    """Interface of the module `greenloop.engine.run_tests`, which only runs tests, or of a stand-in."""

    async def run_tests(
        self,
        root: Path,
        selectors: Sequence[str],
        *,
        buffers: Mapping[str, bytes],
        settings: Settings,
        pool: SandboxPool,
        traced: bool,
        seconds: float = ...,
    ) -> Report: ...

    async def prepare(self, root: Path, settings: Settings, pool: SandboxPool) -> None: ...


class Server(LanguageServer):
    """pygls' server with greenloop's state: the editor's capabilities and settings, the runs, and what is shown."""

    protocol: jsonrpc.Protocol
    outbox: Outbox | None = None

    def __init__(self, engine: Engine | None = None) -> None:
        super().__init__(
            "greenloop",
            __version__,
            notebook_document_sync=NOTEBOOKS,
            protocol_cls=jsonrpc.Protocol,
            converter_factory=default_converter,
        )
        self.abilities = Abilities()
        self.runs = Runs()
        self.results = Results()
        self.freshness = Freshness()
        self.pool = SandboxPool()
        self.warming: dict[Path, float] = {}
        self.board = Board(self)
        self.bars: dict[Run, Bar] = {}
        self.given = Given()
        self.asked = 0
        self.warned: set[str] = set()
        # Projects outside the workspace folders whose runs of earlier servers were looked for.
        self.strays: set[Path] = set()
        # Cleared while the editor's settings are requested for the first time.
        self.settled = asyncio.Event()
        self.settled.set()
        self.last: asyncio.Task[None] | None = None
        self._engine = engine
        self.runs.waiting = self.queued
        self.protocol.unread = self._unread
        self.runs.together = self.board.together
        self._tester = cast("Tester | None", engine if hasattr(engine, "run_tests") else None)
        self.checks = Checks(self)
        self.errands = Errands(self)
        # Called with the URI of each document that was opened, saved, or closed.
        self.opened: list[Callable[[str], None]] = []
        self.saved: list[Callable[[str], None]] = []
        self.closed: list[Callable[[str], None]] = []
        # Called whenever anything about a run changes; `runs.on_list_changed` only where the list of runs does.
        self.refreshed: list[Callable[[], None]] = []
        # The callbacks for the streamed answers of the editor's own model, by request number.
        self.completing: dict[int, Callable[[str], None]] = {}
        self._listeners = itertools.count(1)

    @property
    def documents(self) -> Documents:
        return cast("Documents", self.workspace)

    async def engine(self) -> Engine:
        """The engine; its first import takes one to two seconds and happens off the event loop."""
        if self._engine is None:
            self._engine = cast("Engine", await asyncio.to_thread(importlib.import_module, "greenloop.engine.refine"))
            gc.freeze()
        return self._engine

    async def tester(self) -> Tester:
        """The test runner, loaded in the same way as the engine."""
        if self._tester is None:
            await self.engine()
            self._tester = cast(
                "Tester", await asyncio.to_thread(importlib.import_module, "greenloop.engine.run_tests")
            )
        return self._tester

    def refresh(self, run: Run) -> None:
        """Shows a run's newest state in its progress line, if it has one."""
        bar = self.bars.get(run)
        if bar is not None:
            bar.update()
        self.stirred()

    def stirred(self) -> None:
        """Reports any change of a run, even only of its status text."""
        for callback in self.refreshed:
            callback()

    def listen(self, hear: Callable[[str], None]) -> int:
        """Registers a callback for the pieces of an answer of the editor's own model; returns its number."""
        number = next(self._listeners)
        self.completing[number] = hear
        return number

    def _unread(self, method: str, params: Any) -> None:
        """Marks a document's text as unknown after a message about it could not be read."""
        identifier = params.get("textDocument") if isinstance(params, Mapping) else None
        uri = identifier.get("uri") if isinstance(identifier, Mapping) else None
        if method in _TEXTS and isinstance(uri, str) and (path := self.documents.path_of(uri)) is not None:
            self.freshness.lost(path)

    def queued(self, run: Run) -> None:
        """Shows that a run waits, and how many runs are ahead of it."""
        self.refresh(run)
        diagnostics.publish(self, run)

    def converse(self, inbox: Inbox, outbox: Outbox) -> None:
        """Handles messages until the input ends or the client sends `exit`."""
        self.outbox = outbox
        self.protocol.set_writer(StdoutWriter(outbox.binary()))
        # pygls exits with SystemExit.
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            asyncio.run(self._listen(inbox))
        self.shutdown()  # type: ignore[no-untyped-call]

    async def _listen(self, inbox: Inbox) -> None:
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
    server = Server(engine)
    for feature in pkgutil.iter_modules(features.__path__):
        importlib.import_module(f"{features.__name__}.{feature.name}").register(server)
    return server


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
    outbox = Outbox(sink, given_up=lambda: signal.raise_signal(signal.SIGTERM))
    server.converse(Inbox(source), outbox)
    outbox.close()
    return 0 if server.protocol._shutdown else 1  # noqa: SLF001 - pygls keeps the only record of it
