"""`greenloop.pullModel`: downloads the embedded model; a cancelled download can be resumed."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.core.errors import GreenloopError
from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.connection.client import Client
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters.progress_line import ProgressLine
from greenloop.lsp.runs.background_tasks import LongTasks

TITLE = "Downloading the embedded model"


def register(
    server: LanguageServer, client: Client, documents: Documents, settings: SettingsLoader, long_tasks: LongTasks
) -> None:
    @server.command("greenloop.pullModel")
    def pull_model(*_arguments: Any) -> None:
        if not long_tasks.start(TITLE, lambda line: pull(client, documents, settings, line), percentage=0):
            client.show_message("The embedded model is already being downloaded.")


async def pull(client: Client, documents: Documents, settings: SettingsLoader, progress_line: ProgressLine) -> str:
    weights = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.weights")
    hardware = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.hardware")
    present = weights.downloaded_file()

    def report(done: int, total: int) -> None:
        progress_line.report(f"{done / 1e6:.0f} of {total / 1e6:.0f} MB", done * 100 // max(total, 1))

    if present is None:
        report(0, weights.CODER.size)
        try:
            await weights.pull(report)
        except asyncio.CancelledError:
            client.show_message("Download cancelled. The part downloaded so far is kept.")
            raise
    message = (
        "The embedded model is ready." if present is None else f"The embedded model is already installed: {present}"
    )
    roots = documents.roots()
    try:
        loaded = settings.load(roots[0] if roots else None)
        await asyncio.to_thread(hardware.check, weights.CODER.size, loaded.embedded.context)
    except GreenloopError as error:
        message = f"The embedded model is installed but cannot run now. {error.advice}"
    client.show_message(message)
    return "ready"
