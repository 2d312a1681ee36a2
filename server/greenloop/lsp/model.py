"""When no model is set and none is there: one question, which can download the embedded one with progress."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.errors import ModelProblem
from greenloop.lsp import client

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

DOWNLOAD = "Download (1.1 GB)"
QUESTION = (
    "greenloop has no model yet. Download the embedded one (1.1 GB, runs on this machine, nothing leaves it)? "
    "Another can be named with the setting 'model'."
)
REMEDY = "Run `greenloop model pull` for the embedded one (1.1 GB), or name one with the setting 'model'."


async def ready(server: Server, run: Run) -> None:
    """Returns when a model can be asked. Raises `ModelProblem` with the remedy when there is none."""
    if run.settings.model:
        return
    choice = await asyncio.to_thread(importlib.import_module, "greenloop.embedded.choice")
    run.now = "looking for a model"
    if await choice.choose(run.settings):
        return
    machine = importlib.import_module("greenloop.embedded.machine")
    weights = importlib.import_module("greenloop.embedded.weights")
    # A download that could not be used is not offered: this says what is missing.
    machine.check(weights.CODER.size, run.settings.embedded.context)
    if await client.ask(server, QUESTION, (DOWNLOAD, "Not now")) != DOWNLOAD:
        raise ModelProblem("No model is configured and none was found.", remedy=REMEDY)

    def progress(there: int, total: int) -> None:
        share = there * 100 // max(total, 1)
        run.now = f"downloading the model, {share} % of {total / 1e9:.1f} GB"
        server.refresh(run)

    await weights.pull(progress)
    client.tell(server, "The embedded model is ready.", lsp.MessageType.Info)
