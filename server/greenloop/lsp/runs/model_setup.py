"""Provides a run's models; without any, asks once whether to download the embedded one."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.errors import ModelError
from greenloop.core.ports import Model
from greenloop.lsp.connection import client_requests
from greenloop.lsp.runs.api_keys import Keys
from greenloop.lsp.runs.editor_model import EditorModel
from greenloop.project.settings import EDITOR, Settings, models

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

DOWNLOAD = "Download (1.1 GB)"
QUESTION = (
    "greenloop has no model yet. Download the embedded one (1.1 GB, runs on this machine, nothing leaves it)? "
    "Another can be named with the setting 'model'."
)
REMEDY = "Run `greenloop model pull` for the embedded one (1.1 GB), or name one with the setting 'model'."


def opener(server: Server, run: Run) -> Callable[[str, Settings], Model]:
    """A function that opens a run's models: the editor's own, and those whose keys the client keeps."""
    keys = Keys(server, run) if server.abilities.keys else None

    def open_model(name: str, settings: Settings) -> Model:
        from greenloop.models import roles  # noqa: PLC0415 - only runs need it, not the start

        return EditorModel(server, settings) if name == EDITOR else roles.open_model(name, settings, keys)

    return open_model


async def ready(server: Server, run: Run) -> None:
    """Returns when a model is available. Raises `ModelError` with the remedy where none is."""
    if EDITOR in models(run.settings) and not server.abilities.model:
        raise ModelError(
            "This editor has no language model of its own that could be asked.",
            remedy="Name another with the setting 'model', such as local.",
        )
    if run.settings.model:
        return
    default_model = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.default_model")
    run.now = "looking for a model"
    if await default_model.choose(run.settings):
        return
    hardware = importlib.import_module("greenloop.models.embedded.hardware")
    weights = importlib.import_module("greenloop.models.embedded.weights")
    # Raises where the model could not run here, so that a useless download is not offered.
    hardware.check(weights.CODER.size, run.settings.embedded.context)
    if await client_requests.ask(server, QUESTION, (DOWNLOAD, "Not now")) != DOWNLOAD:
        editor_hint = " The editor's own is named `editor`." if server.abilities.model else ""
        raise ModelError("No model is configured and none was found.", remedy=REMEDY + editor_hint)

    def progress(there: int, total: int) -> None:
        share = there * 100 // max(total, 1)
        run.now = f"downloading the model, {share} % of {total / 1e9:.1f} GB"
        server.refresh(run)

    await weights.pull(progress)
    client_requests.tell(server, "The embedded model is ready.", lsp.MessageType.Info)
