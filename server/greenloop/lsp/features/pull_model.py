"""`greenloop.pullModel`: downloads the embedded model; a cancelled download can be resumed."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from greenloop.core.errors import GreenloopError
from greenloop.lsp.connection import client_requests
from greenloop.lsp.features import configuration

if TYPE_CHECKING:
    from greenloop.lsp.presenters.progress_line import Line
    from greenloop.lsp.server import Server

TITLE = "Downloading the embedded model"


def register(server: Server) -> None:
    @server.command("greenloop.pullModel")
    def pull_model(*_arguments: Any) -> None:
        if not server.errands.start(TITLE, lambda line: _pulled(server, line), percentage=0):
            client_requests.tell(server, "The embedded model is being downloaded already.")


async def _pulled(server: Server, line: Line) -> str:
    weights = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.weights")
    hardware = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.hardware")
    present = weights.present()

    def progress(have: int, total: int) -> None:
        line.report_status(f"{have / 1e6:.0f} of {total / 1e6:.0f} MB", have * 100 // max(total, 1))

    if present is None:
        progress(0, weights.CODER.size)
        try:
            await weights.pull(progress)
        except asyncio.CancelledError:
            client_requests.tell(server, "The download of the embedded model was cancelled; what has arrived is kept.")
            raise
    message = "The embedded model is ready." if present is None else f"The embedded model is here already: {present}"
    roots = server.documents.roots()
    try:
        settings = configuration.load(server, roots[0] if roots else None)
        await asyncio.to_thread(hardware.check, weights.CODER.size, settings.embedded.context)
    except GreenloopError as error:
        message = f"The embedded model is here, but it cannot run now. {error.advice}"
    client_requests.tell(server, message)
    return "ready"
