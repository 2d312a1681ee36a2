"""The models of a run; when none is set and none is there, one question, which can download the embedded one."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.errors import ModelProblem
from greenloop.core.ports import Model
from greenloop.lsp import client
from greenloop.lsp.editor_model import EditorModel
from greenloop.lsp.keys import Keys
from greenloop.settings import EDITOR, Settings, models

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

DOWNLOAD = "Download (1.1 GB)"
QUESTION = (
    "greenloop has no model yet. Download the embedded one (1.1 GB, runs on this machine, nothing leaves it)? "
    "Another can be named with the setting 'model'."
)
REMEDY = "Run `greenloop model pull` for the embedded one (1.1 GB), or name one with the setting 'model'."


def opener(server: Server, run: Run) -> Callable[[str, Settings], Model]:
    """Makes the models of a run: the editor's own, and those whose keys the client keeps."""
    keys = Keys(server, run) if server.abilities.keys else None

    def opened(name: str, settings: Settings) -> Model:
        from greenloop import roles  # noqa: PLC0415 - only runs need it, not the start

        return EditorModel(server, settings) if name == EDITOR else roles.opened(name, settings, keys)

    return opened


async def ready(server: Server, run: Run) -> None:
    """Returns when a model can be asked. Raises `ModelProblem` with the remedy when there is none."""
    if EDITOR in models(run.settings) and not server.abilities.model:
        raise ModelProblem(
            "This editor has no language model of its own that could be asked.",
            remedy="Name another with the setting 'model', such as local.",
        )
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
        own = " The editor's own is named `editor`." if server.abilities.model else ""
        raise ModelProblem("No model is configured and none was found.", remedy=REMEDY + own)

    def progress(there: int, total: int) -> None:
        share = there * 100 // max(total, 1)
        run.now = f"downloading the model, {share} % of {total / 1e9:.1f} GB"
        server.refresh(run)

    await weights.pull(progress)
    client.tell(server, "The embedded model is ready.", lsp.MessageType.Info)
