"""`greenloop.showLog`, and what is logged as `window/logMessage`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from greenloop.core.redact import clean
from greenloop.core.uris import uri_from_path
from greenloop.lsp import client, logs

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.command("greenloop.showLog")
    def show_log(*_arguments: Any) -> None:
        server.runs.spawn(_show(server))


def attach(server: Server) -> None:
    """The client is initialized: what was logged so far goes there, and what follows."""

    def send(level: int, text: str) -> None:
        server.window_log_message(lsp.LogMessageParams(type=_kind(level), message=clean(text)))

    logs.connect(send)


def _kind(level: int) -> lsp.MessageType:
    if level >= logging.ERROR:
        return lsp.MessageType.Error
    return lsp.MessageType.Warning if level >= logging.WARNING else lsp.MessageType.Info


async def _show(server: Server) -> None:
    path = logs.path()
    if path is None:
        client.tell(server, "No log file can be written; start the server with --log-file FILE.")
    elif not await client.show(server, uri_from_path(path)):
        client.tell(server, f"The log is {path}")
