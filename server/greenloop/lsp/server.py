"""The language server: makes its parts, registers its features, and talks on standard streams.

Everything slow to import (the engine and its dependencies) is imported at the first run, in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInternalError
from pygls.io_ import StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter

from greenloop import __version__
from greenloop.core import entry_points
from greenloop.lsp.connection import jsonrpc, logs
from greenloop.lsp.connection.inbox import Inbox
from greenloop.lsp.engines import RunEngine
from greenloop.lsp.features import (
    attempts,
    code_action,
    code_lens,
    document_sync,
    hover,
    lifecycle,
    models,
    refine,
    runs,
    troubleshooting,
    workspace,
)
from greenloop.lsp.parts import Parts
from greenloop.serving.stdio import Outbox, take_stdio

log = logging.getLogger(__name__)

FEATURES = (
    lifecycle,
    runs,
    document_sync,
    workspace,
    code_action,
    code_lens,
    hover,
    refine,
    attempts,
    models,
    troubleshooting,
)

# The messages that carry the text of an open file.
_TEXTS = (lsp.TEXT_DOCUMENT_DID_OPEN, lsp.TEXT_DOCUMENT_DID_CHANGE)


class GreenloopServer(LanguageServer):
    """pygls' server with the parts and features of greenloop's."""

    protocol: jsonrpc.Protocol

    def __init__(self, engine: RunEngine | None = None) -> None:
        features = (*FEATURES, *entry_points.load_all(entry_points.LSP_FEATURES))
        options = [getattr(feature, "SERVER_OPTIONS", {}) for feature in features]
        super().__init__(
            "greenloop",
            __version__,
            protocol_cls=jsonrpc.Protocol,
            converter_factory=default_converter,
            **dict(ChainMap(*options)),
        )
        self.parts = Parts(self, engine)
        self.protocol.on_unreadable = self._mark_unreadable
        for feature in features:
            feature.register(self, self.parts)

    def _mark_unreadable(self, method: str, params: Any) -> None:
        """Marks a document's text as unknown after a message about it could not be read."""
        identifier = params.get("textDocument") if isinstance(params, Mapping) else None
        uri = identifier.get("uri") if isinstance(identifier, Mapping) else None
        if method in _TEXTS and isinstance(uri, str) and (path := self.parts.documents.path_of(uri)) is not None:
            self.parts.documents.conflicts.mark_unknown(path)

    def converse(self, inbox: Inbox, outbox: Outbox) -> None:
        """Handles messages until the input ends or the client sends `exit`."""
        self.parts.client.outbox = outbox
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
