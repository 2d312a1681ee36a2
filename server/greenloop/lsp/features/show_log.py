"""`greenloop.showLog`, and forwarding of the log by `window/logMessage`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from greenloop.core.text.redact import clean_for_display
from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection import client_requests, logs

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.command("greenloop.showLog")
    def show_log(*_arguments: Any) -> None:
        server.runs.spawn(_show(server))


def attach(server: Server) -> None:
    """Forwards the log to the initialized client, including the records so far."""

    def send(level: int, text: str) -> None:
        server.window_log_message(lsp.LogMessageParams(type=_kind(level), message=clean_for_display(text)))

    logs.connect(send)


def _kind(level: int) -> lsp.MessageType:
    if level >= logging.ERROR:
        return lsp.MessageType.Error
    return lsp.MessageType.Warning if level >= logging.WARNING else lsp.MessageType.Info


async def _show(server: Server) -> None:
    path = logs.path()
    if path is None:
        client_requests.tell(server, "No log file can be written; start the server with --log-file FILE.")
    elif not await client_requests.show(server, uri_from_path(path)):
        client_requests.tell(server, f"The log is {path}")
