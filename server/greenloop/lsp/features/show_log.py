"""`greenloop.showLog`, and forwarding of the log by `window/logMessage`."""

from __future__ import annotations

import logging
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.core.text.redact import clean_for_display
from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection import logs
from greenloop.lsp.connection.client import Client
from greenloop.lsp.tasks import Tasks


def register(server: LanguageServer, client: Client, tasks: Tasks) -> None:
    @server.command("greenloop.showLog")
    def show_log(*_arguments: Any) -> None:
        tasks.spawn(_show(client))


def forward(client: Client) -> None:
    """Forwards the log to the initialized client, including the records so far."""

    def send(level: int, text: str) -> None:
        client.log(clean_for_display(text), _kind(level))

    logs.connect(send)


def _kind(level: int) -> lsp.MessageType:
    if level >= logging.ERROR:
        return lsp.MessageType.Error
    return lsp.MessageType.Warning if level >= logging.WARNING else lsp.MessageType.Info


async def _show(client: Client) -> None:
    path = logs.path()
    if path is None:
        client.show_message("The log file cannot be written. Start the server with --log-file FILE.")
    elif not await client.show_document(uri_from_path(path)):
        client.show_message(f"The log is in {path}")
