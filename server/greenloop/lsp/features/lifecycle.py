"""initialize, initialized, document events, shutdown, and every way in which the client can end."""

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

from greenloop.core.text.diff import with_plain_ends
from greenloop.lsp.client_settings import section
from greenloop.lsp.connection.capabilities import abilities
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.features import configuration, files, show_log
from greenloop.lsp.presenters import diagnostics, notifications
from greenloop.lsp.runs import apply_edit, restore
from greenloop.lsp.runs.questions import Answer

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)

# Seconds for the clean-up after the end of the client, and between two checks of its process (not used any more).
CLEANUP = 5.0
LOOK = 5.0
# Seconds after which a closed document stays closed: renaming, and reloading with `:edit`, close and reopen at once.
REOPEN = 0.5


def register(server: Server) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.abilities = abilities(params.capabilities)
        server.freshness.saves = server.abilities.saves
        default_workspace = server.workspace
        # pygls offers no public way to replace its workspace.
        server.protocol._workspace = Documents(  # noqa: SLF001
            default_workspace.root_uri,
            lsp.TextDocumentSyncKind.Incremental,
            list(default_workspace.folders.values()),
            default_workspace.position_encoding,
        )
        server.given.initial = section(params.initialization_options)
        _end_with_signals(server)
        _end_with_input(server)
        if params.process_id:
            _end_with_client(server, params.process_id)

    @server.feature(lsp.INITIALIZED)
    def initialized(_params: lsp.InitializedParams) -> None:
        show_log.attach(server)
        # Clears a view that shows the runs of an earlier server.
        server.stirred()
        server.settled.clear()
        server.runs.spawn(_begin(server))
        server.runs.spawn(files.watch(server))
        # The first code action should not wait for the import of the parser.
        server.runs.spawn(_warm())

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        # Some editors rename a file by closing it and opening another, without any other message.
        server.board.looked()
        located = server.documents.file_of(params.text_document.uri)
        if located is not None:
            server.freshness.opened(located[0])
            server.board.again(located[0])
            if server.documents.root_of(located[0]) is None:
                server.runs.spawn(restore.look_around(server, params.text_document.uri))
        noticed(server, located[0] if located else None)
        for tell in server.opened:
            tell(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        located = server.documents.file_of(params.text_document.uri)
        if located is not None:
            _followed(server, located[0], params.content_changes)
        noticed(server, located[0] if located else None)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        for run in server.runs:
            if run.question is not None and run.uri == params.text_document.uri:
                run.question.end(Answer())
        for tell in server.closed:
            tell(params.text_document.uri)
        server.board.looked()
        located = server.documents.file_of(params.text_document.uri)
        if located is not None:
            # Unsaved changes are gone: from now on the text on disk counts.
            server.board.again(located[0])
            if server.documents.at(located[0]) is None:
                server.freshness.closed(located[0])
        noticed(server, located[0] if located else None)
        left(server, [params.text_document.uri])

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        located = server.documents.file_of(params.text_document.uri)
        if located is not None:
            server.freshness.saved(located[0])
        locations.forget()
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
    """Handles a file's changed text, which may undo a result, or contain an edit that was sent before."""
    if path is not None:
        server.board.changed(path)
        _notice_undo(server, path)
        _notice_arrivals(server, path)
    server.documents.changed()


def _notice_arrivals(server: Server, path: Path) -> None:
    """Notices a result in this file's text whose edit was given up, or was part of a code action."""
    for run in server.runs:
        if _name(run, path) not in run.sent:
            continue
        apply_result = apply_edit.arrived(server, run)
        if apply_result is not None and run.outcome is not None:
            server.runs.spawn(restore.applied(run))
            notifications.ended(server, run, run.outcome, apply_result)
            diagnostics.publish(server, run)
            server.runs.moved()


def left(server: Server, uris: Collection[str]) -> None:
    """Cancels the runs started from closed documents, unless one of them is reopened at once."""
    # Clients escape URIs in several ways, not always consistently.
    names = {unquote(uri) for uri in uris}
    if any(run.cancellable and run.open and unquote(run.uri) in names for run in server.runs):
        server.runs.spawn(_left(server, names))


async def _left(server: Server, names: set[str]) -> None:
    def is_reopened() -> bool:
        return any(map(server.documents.shows, names))

    if not await server.documents.wait_until(is_reopened, REOPEN):
        server.runs.cancel(lambda run: run.open and unquote(run.uri) in names)


async def _begin(server: Server) -> None:
    await configuration.settle(server)
    await restore.look(server, server.documents.roots())


async def _warm() -> None:
    await asyncio.to_thread(importlib.import_module, "greenloop.project.targets")


def _notice_undo(server: Server, path: Path) -> None:
    """Notices undo and redo: an undone result can be applied again, a redone one counts as applied.

    Closing a file without saving also undoes a result.
    """
    landed = [(run, run.landed[name]) for run in server.runs if (name := _name(run, path)) in run.landed]
    text = apply_edit.text_of(server, path) if landed else None
    for run, (before, after) in landed if text is not None else ():
        current = with_plain_ends(text or "")
        applied = (
            current != with_plain_ends(before)
            if run.applied
            else current == with_plain_ends(after) and _stands(server, run)
        )
        if applied != run.applied:
            run.applied = applied
            server.runs.moved()


def _name(run: Run, path: Path) -> str:
    return path.relative_to(run.root).as_posix() if path.is_relative_to(run.root) else ""


def _stands(server: Server, run: Run) -> bool:
    """Whether every file's text is the one that the applied result had left."""
    current_texts = {path: apply_edit.text_of(server, run.root / path) for path in run.landed}
    return all(
        with_plain_ends(current_texts[path] or "") == with_plain_ends(after)
        for path, (_before, after) in run.landed.items()
    )


# -- the end ----------------------------------------------------------------------------------------------------


async def _end(server: Server, status: int) -> None:
    """Cleans up and exits the process; a thread blocked on a silent client's input cannot be ended otherwise."""
    await _closed(server)
    os._exit(status)


def _end_with_input(server: Server) -> None:
    """Cleans up however the event loop ends (no more input, `exit` without `shutdown`)."""

    async def clean_up_at_end() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            if not await _closed(server):
                # Otherwise the process would wait for the clean-up, however long it takes.
                os._exit(0 if server.protocol._shutdown else 1)  # noqa: SLF001 - pygls keeps the only record of it

    server.last = asyncio.get_running_loop().create_task(clean_up_at_end())


async def _closed(server: Server) -> bool:
    """Cancels and closes everything; whether that was done in time. Errors and delays never block the exit."""

    async def close() -> None:
        await server.runs.close()
        await server.pool.close()

    clean_up = asyncio.ensure_future(close())
    await asyncio.wait({clean_up}, timeout=CLEANUP)
    if not clean_up.done():
        log.warning("Cleaning up takes longer than %g s", CLEANUP)
    elif not clean_up.cancelled() and clean_up.exception() is not None:
        log.error("Cleaning up failed", exc_info=clean_up.exception())
    return clean_up.done()


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
    """Exits with the client's process, because a child of the client may keep the server's input open."""
    loop = asyncio.get_running_loop()
    endings: set[asyncio.Task[None]] = set()
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        # Another system, or a client in another process namespace: only the end of its input shows its end.
        return

    def gone() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        endings.add(loop.create_task(_end(server, 1)))

    loop.add_reader(descriptor, gone)
