"""`greenloop.doctor`, `greenloop.showLog`, and forwarding of the log by `window/logMessage`."""

from __future__ import annotations

import asyncio
import importlib
import logging
import tempfile
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.core.text.redact import clean_for_display
from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection import logs
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import command_argument
from greenloop.lsp.documents import locations
from greenloop.lsp.editor import Editor
from greenloop.lsp.parts import Parts
from greenloop.lsp.presenters.pages import Pages
from greenloop.lsp.presenters.progress import ProgressLine

TITLE = "Checking the installation"


def register(server: LanguageServer, parts: Parts) -> None:
    editor, long_tasks = parts.editor, parts.long_tasks

    @server.command("greenloop.doctor")
    def doctor(*arguments: Any) -> None:
        root = locations.root_named(editor.documents, command_argument(arguments))
        if not long_tasks.start(TITLE, lambda line: examine(editor, root, line)):
            editor.client.show_message("A health check is already running.")

    @server.command("greenloop.showLog")
    def show_log(*_arguments: Any) -> None:
        editor.tasks.spawn(_show_log(editor.client))


async def examine(editor: Editor, root: Path | None, progress_line: ProgressLine) -> str:
    health = await asyncio.to_thread(importlib.import_module, "greenloop.api.health")
    await editor.settings.wait_shortly()
    loaded, capabilities = editor.settings.load(root), editor.client.capabilities
    progress_line.report("sandboxes, interpreter, model")
    declared = health.DoctorEditor(model=capabilities.model, keys=capabilities.keys)
    with tempfile.TemporaryDirectory(prefix="greenloop-doctor-") as empty_folder:
        rows = await health.doctor(root or Path(empty_folder), loaded, promises=True, editor=declared)
    if root is None:
        # The machine can still be checked, but the project's interpreter is not known.
        rows = [row for row in rows if row.part != "interpreter"]
        detail, remedy = "no folder is open", "Open the folder of a project."
        workspace = health.DoctorFinding(part="workspace", name="", ok=False, detail=detail, remedy=remedy)
    else:
        workspace = health.DoctorFinding(part="workspace", name=root.name, ok=True, detail=str(root))
    await Pages(editor).open_findings(root, [*rows, workspace])
    return str(health.summary([*rows, workspace]))


def forward_log(client: Client) -> None:
    """Forwards the log to the initialized client, including the records so far."""

    def send(level: int, text: str) -> None:
        client.log(clean_for_display(text), _kind(level))

    logs.connect(send)


def _kind(level: int) -> lsp.MessageType:
    if level >= logging.ERROR:
        return lsp.MessageType.Error
    return lsp.MessageType.Warning if level >= logging.WARNING else lsp.MessageType.Info


async def _show_log(client: Client) -> None:
    path = logs.path()
    if path is None:
        client.show_message("The log file cannot be written. Start the server with --log-file FILE.")
    elif not await client.show_document(uri_from_path(path)):
        client.show_message(f"The log is in {path}")
