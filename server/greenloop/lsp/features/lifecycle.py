"""initialize, initialized, document events, shutdown, and the end of the client however it comes."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import signal
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types as lsp

from greenloop.core.diff import flat
from greenloop.lsp import edits, places, restart
from greenloop.lsp.abilities import abilities
from greenloop.lsp.documents import Documents
from greenloop.lsp.features import configuration, files, show_log
from greenloop.lsp.given import section
from greenloop.lsp.presenters import diagnostics, status
from greenloop.lsp.questions import Answer

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)

# Seconds that the end of the client leaves for cleaning up, and between two looks where the system cannot tell.
CLEANUP = 5.0
LOOK = 5.0
# Seconds after which a closed document counts as left: renaming, and reloading as `:edit` does, close and open at once.
REOPEN = 0.5


def register(server: Server) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.abilities = abilities(params.capabilities)
        server.freshness.saves = server.abilities.saves
        plain = server.workspace
        # pylint would object; pygls offers no other way to bring documents of one's own.
        server.protocol._workspace = Documents(  # noqa: SLF001
            plain.root_uri, lsp.TextDocumentSyncKind.Incremental, list(plain.folders.values()), plain.position_encoding
        )
        server.given.initial = section(params.initialization_options)
        _end_with_signals(server)
        _end_with_input(server)
        if params.process_id:
            _end_with_client(server, params.process_id)

    @server.feature(lsp.INITIALIZED)
    def initialized(_params: lsp.InitializedParams) -> None:
        show_log.attach(server)
        # A view that showed the runs of an earlier server is emptied.
        server.stirred()
        server.settled.clear()
        server.runs.spawn(_begin(server))
        server.runs.spawn(files.watch(server))
        # The first code action should not pay for the parser.
        server.runs.spawn(_warm())

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        # A file is renamed by closing it and opening another; nothing else tells.
        server.board.looked()
        found = server.documents.file_of(params.text_document.uri)
        if found is not None:
            server.freshness.opened(found[0])
            server.board.again(found[0])
            if server.documents.root_of(found[0]) is None:
                server.runs.spawn(restart.look_around(server, params.text_document.uri))
        noticed(server, found[0] if found else None)
        for tell in server.opened:
            tell(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        found = server.documents.file_of(params.text_document.uri)
        if found is not None:
            _followed(server, found[0], params.content_changes)
        noticed(server, found[0] if found else None)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        for run in server.runs:
            if run.question is not None and run.uri == params.text_document.uri:
                run.question.end(Answer())
        for tell in server.closed:
            tell(params.text_document.uri)
        server.board.looked()
        found = server.documents.file_of(params.text_document.uri)
        if found is not None:
            # What was never saved is gone: from now on the disk's text counts.
            server.board.again(found[0])
            if server.documents.at(found[0]) is None:
                server.freshness.closed(found[0])
        noticed(server, found[0] if found else None)
        left(server, [params.text_document.uri])

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        found = server.documents.file_of(params.text_document.uri)
        if found is not None:
            server.freshness.saved(found[0])
        places.forget()
        for tell in server.saved:
            tell(params.text_document.uri)
        server.board.looked()

    @server.feature(lsp.SHUTDOWN)
    async def shutdown(_params: None) -> None:
        await _closed(server)


def _followed(server: Server, path: Path, changes: Sequence[lsp.TextDocumentContentChangeEvent]) -> None:
    document = server.documents.at(path)
    if document is None:
        server.freshness.unheard(path)
        return
    if any(isinstance(change, lsp.TextDocumentContentChangeWholeDocument) for change in changes):
        server.freshness.found(path)
    server.freshness.changed(path, document.source)


def noticed(server: Server, path: Path | None) -> None:
    """A file's text changed: perhaps back to what it was, or to what was sent to the editor."""
    if path is not None:
        server.board.changed(path)
        _notice_undo(server, path)
        _notice_arrivals(server, path)
    server.documents.changed()


def _notice_arrivals(server: Server, path: Path) -> None:
    """A result that was given up, or given with an action, may be in this file's text by now."""
    for run in server.runs:
        if _name(run, path) not in run.sent:
            continue
        landing = edits.arrived(server, run)
        if landing is not None and run.outcome is not None:
            server.runs.spawn(restart.applied(run))
            status.ended(server, run, run.outcome, landing)
            diagnostics.publish(server, run)
            server.runs.moved()


def left(server: Server, uris: Collection[str]) -> None:
    """The user closed these documents: the runs that he started from there end, unless one is opened again at once."""
    # Clients quote in several ways, and not always in the same.
    names = {unquote(uri) for uri in uris}
    if any(run.cancellable and run.open and unquote(run.uri) in names for run in server.runs):
        server.runs.spawn(_left(server, names))


async def _left(server: Server, names: set[str]) -> None:
    def again() -> bool:
        return any(map(server.documents.shows, names))

    if not await server.documents.wait_until(again, REOPEN):
        server.runs.cancel(lambda run: run.open and unquote(run.uri) in names)


async def _begin(server: Server) -> None:
    await configuration.settle(server)
    await restart.look(server, server.documents.roots())


async def _warm() -> None:
    await asyncio.to_thread(importlib.import_module, "greenloop.targets")


def _notice_undo(server: Server, path: Path) -> None:
    """A result that the user took back can be applied again; one that he brought back is applied.

    Closing a file unsaved takes it back as well.
    """
    landed = [(run, run.landed[name]) for run in server.runs if (name := _name(run, path)) in run.landed]
    text = edits.text_of(server, path) if landed else None
    for run, (before, after) in landed if text is not None else ():
        now = flat(text or "")
        applied = now != flat(before) if run.applied else now == flat(after) and _stands(server, run)
        if applied != run.applied:
            run.applied = applied
            server.runs.moved()


def _name(run: Run, path: Path) -> str:
    return path.relative_to(run.root).as_posix() if path.is_relative_to(run.root) else ""


def _stands(server: Server, run: Run) -> bool:
    """Whether every file is as the result that landed once had left it."""
    texts = {path: edits.text_of(server, run.root / path) for path in run.landed}
    return all(flat(texts[path] or "") == flat(after) for path, (_before, after) in run.landed.items())


# -- the end ----------------------------------------------------------------------------------------------------


async def _end(server: Server, status: int) -> None:
    """Cleans up and leaves; the thread that reads a silent client's input could not be ended otherwise."""
    await _closed(server)
    os._exit(status)


def _end_with_input(server: Server) -> None:
    """Whatever ends the event loop (no more input, `exit` without `shutdown`), it ends with a cleaning up."""

    async def last() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            if not await _closed(server):
                # Else the end would wait for it, however long that takes.
                os._exit(0 if server.protocol._shutdown else 1)  # noqa: SLF001 - pygls keeps the only record of it

    server.last = asyncio.get_running_loop().create_task(last())


async def _closed(server: Server) -> bool:
    """Whether all was cancelled and cleaned up in time; neither a fault in that nor its length holds an end up."""

    async def close() -> None:
        await server.runs.close()
        await server.keeper.close()

    closing = asyncio.ensure_future(close())
    await asyncio.wait({closing}, timeout=CLEANUP)
    if not closing.done():
        log.warning("Cleaning up takes longer than %g s", CLEANUP)
    elif not closing.cancelled() and closing.exception() is not None:
        log.error("Cleaning up failed", exc_info=closing.exception())
    return closing.done()


def _end_with_signals(server: Server) -> None:
    if sys.platform == "win32":
        return
    loop = asyncio.get_running_loop()
    endings: set[asyncio.Task[None]] = set()

    def end(number: int) -> None:
        endings.add(loop.create_task(_end(server, 128 + number)))

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)


def _end_with_client(server: Server, pid: int) -> None:
    """The client's input usually ends with it; a child of the client that holds it open must not keep us alive."""
    loop = asyncio.get_running_loop()
    endings: set[asyncio.Task[None]] = set()
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        # Another system, or a client in another process namespace: only its input can tell.
        return

    def gone() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        endings.add(loop.create_task(_end(server, 1)))

    loop.add_reader(descriptor, gone)
