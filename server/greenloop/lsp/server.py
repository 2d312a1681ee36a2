"""The language server: one object that owns the connection's state, and its start on standard input and output.

Everything slow (the engine and all it needs) is imported at the first run, in a thread.
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
from greenloop.core.nouns import Outcome, Problem, Verdict
from greenloop.core.ports import Model, User
from greenloop.keeper import Keeper
from greenloop.lsp import features, logs, wire
from greenloop.lsp.abilities import Abilities
from greenloop.lsp.board import Board
from greenloop.lsp.checks import Checks
from greenloop.lsp.documents import Documents
from greenloop.lsp.errands import Errands
from greenloop.lsp.freshness import Freshness
from greenloop.lsp.given import Given
from greenloop.lsp.presenters import diagnostics
from greenloop.lsp.presenters.progress import Bar
from greenloop.lsp.results import Results
from greenloop.lsp.runs import Run, Runs
from greenloop.lsp.transport import Inbox, Outbox, take_stdio
from greenloop.settings import Settings

if TYPE_CHECKING:
    from greenloop.checking import Report
    from greenloop.engine import Request

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

# The messages that say what an open file holds.
_TEXTS = (lsp.TEXT_DOCUMENT_DID_OPEN, lsp.TEXT_DOCUMENT_DID_CHANGE)


class Engine(Protocol):
    """What does the work: the module `greenloop.engine`, or a stand-in with the same functions."""

    async def refine(
        self,
        request: Request,
        *,
        settings: Settings,
        emit: Callable[[Event], None],
        say: Callable[[str], None] = ...,
        user: User | None = None,
        opener: Callable[[str, Settings], Model] | None = None,
        keeper: Keeper | None = None,
    ) -> Outcome: ...

    async def warm(self, root: Path, settings: Settings, keeper: Keeper) -> None: ...

    async def reverify(self, problem: Problem, files: Mapping[str, bytes], *, settings: Settings) -> Verdict: ...


class Tester(Protocol):
    """What runs tests for their own sake: the module `greenloop.checking`, or a stand-in."""

    async def run_tests(
        self,
        root: Path,
        selectors: Sequence[str],
        *,
        buffers: Mapping[str, bytes],
        settings: Settings,
        keeper: Keeper,
        traced: bool,
        seconds: float = ...,
    ) -> Report: ...

    async def prepare(self, root: Path, settings: Settings, keeper: Keeper) -> None: ...


class Server(LanguageServer):
    """pygls' server with greenloop's state: what the editor can do, its settings, the runs and what they show."""

    protocol: wire.Protocol
    outbox: Outbox | None = None

    def __init__(self, engine: Engine | None = None) -> None:
        super().__init__(
            "greenloop",
            __version__,
            notebook_document_sync=NOTEBOOKS,
            protocol_cls=wire.Protocol,
            converter_factory=default_converter,
        )
        self.abilities = Abilities()
        self.runs = Runs()
        self.results = Results()
        self.freshness = Freshness()
        self.keeper = Keeper()
        self.warming: dict[Path, float] = {}
        self.board = Board(self)
        self.bars: dict[Run, Bar] = {}
        self.given = Given()
        self.asked = 0
        self.warned: set[str] = set()
        # Projects outside the workspace folders, in which what earlier servers left was looked for.
        self.strays: set[Path] = set()
        # Cleared while the editor is asked for its settings for the first time.
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
        # Told of the URI of each document that was opened, saved, or closed.
        self.opened: list[Callable[[str], None]] = []
        self.saved: list[Callable[[str], None]] = []
        self.closed: list[Callable[[str], None]] = []
        # Told whenever something about a run is another; `runs.changed` when it is worth a look at all of them.
        self.refreshed: list[Callable[[], None]] = []
        # Who waits for pieces of which answer of the editor's own model.
        self.completing: dict[int, Callable[[str], None]] = {}
        self._listeners = itertools.count(1)

    @property
    def documents(self) -> Documents:
        return cast("Documents", self.workspace)

    async def engine(self) -> Engine:
        """The engine; its first import takes a second or two and happens off the event loop."""
        if self._engine is None:
            self._engine = cast("Engine", await asyncio.to_thread(importlib.import_module, "greenloop.engine"))
            gc.freeze()
        return self._engine

    async def tester(self) -> Tester:
        """What runs tests; loaded as the engine is."""
        if self._tester is None:
            await self.engine()
            self._tester = cast("Tester", await asyncio.to_thread(importlib.import_module, "greenloop.checking"))
        return self._tester

    def refresh(self, run: Run) -> None:
        """Shows a run's newest state in its progress line, if it has one."""
        bar = self.bars.get(run)
        if bar is not None:
            bar.update()
        self.stirred()

    def stirred(self) -> None:
        """Something about a run is another now, be it only what it is at."""
        for tell in self.refreshed:
            tell()

    def listen(self, hear: Callable[[str], None]) -> int:
        """A number under which pieces of an answer of the editor's own model come in."""
        number = next(self._listeners)
        self.completing[number] = hear
        return number

    def _unread(self, method: str, params: Any) -> None:
        """What a document holds is not known any more, where a message that says so cannot be read."""
        document = params.get("textDocument") if isinstance(params, Mapping) else None
        uri = document.get("uri") if isinstance(document, Mapping) else None
        if method in _TEXTS and isinstance(uri, str) and (path := self.documents.path_of(uri)) is not None:
            self.freshness.lost(path)

    def queued(self, run: Run) -> None:
        """Shows that a run waits, and for how many."""
        self.refresh(run)
        diagnostics.publish(self, run)

    def converse(self, inbox: Inbox, outbox: Outbox) -> None:
        """Handles messages until the input ends or the client says goodbye."""
        self.outbox = outbox
        self.protocol.set_writer(StdoutWriter(outbox.binary()))
        # pygls ends by SystemExit.
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            asyncio.run(self._listen(inbox))
        self.shutdown()  # type: ignore[no-untyped-call]

    async def _listen(self, inbox: Inbox) -> None:
        loop = asyncio.get_running_loop()
        while (body := await loop.run_in_executor(self.thread_pool, inbox.read)) is not None:
            try:
                self.protocol.receive(body)
            except Exception:
                # The message edge: whatever one of them holds, the next is read.
                log.exception("A message could not be handled")

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Pygls would show every odd message of a client to the user; the log is the place for them."""
        kind, where = type(error).__name__, getattr(source, "__name__", source)
        # A mistake of the client's has no traceback worth reading.
        log.error("%s while handling a message (%s)", kind, where, exc_info=isinstance(error, JsonRpcInternalError))


def create_server(engine: Engine | None = None) -> Server:
    """A server with every feature; `engine` stands in for the real one in tests."""
    server = Server(engine)
    for feature in pkgutil.iter_modules(features.__path__):
        importlib.import_module(f"{features.__name__}.{feature.name}").register(server)
    return server


def serve(server: Server | None = None, *, log_level: str = "", log_file: str = "") -> int:
    """Speaks LSP on standard input and output until the client ends it; 0 when it said goodbye as the protocol asks.

    Raises `UsageProblem` where the log file cannot be written.
    """
    source, sink = take_stdio()
    logs.start(level=log_level, file=log_file)
    server = server or create_server()
    # What the imports left lives as long as the process; without this every collection walks through it (30 ms).
    gc.freeze()
    # As if asked to end: runs are cancelled, sandboxes closed.
    outbox = Outbox(sink, given_up=lambda: signal.raise_signal(signal.SIGTERM))
    server.converse(Inbox(source), outbox)
    outbox.close()
    return 0 if server.protocol._shutdown else 1  # noqa: SLF001 - pygls keeps the only record of it
