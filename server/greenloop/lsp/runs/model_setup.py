"""Provides a run's models; without any, asks once whether to download the embedded one."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable

from greenloop.core.errors import ModelError
from greenloop.core.ports import Model
from greenloop.lsp.connection.client import Client
from greenloop.lsp.runs.api_keys import ApiKeys
from greenloop.lsp.runs.editor_model import AnswerStreams, EditorModel
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import Run
from greenloop.project.settings import EDITOR, Settings, models

DOWNLOAD = "Download (1.1 GB)"
QUESTION = (
    "greenloop has no model yet. Download the embedded model (1.1 GB)? It runs on this machine, and nothing leaves it. "
    "To use another model, set 'model'."
)
REMEDY = "Run `greenloop model pull` to download the embedded model (1.1 GB), or set 'model'."


class ModelSetup:
    """The models of runs."""

    def __init__(self, client: Client, runs: Runs, streams: AnswerStreams) -> None:
        self._client, self._runs, self._streams = client, runs, streams

    def opener(self, run: Run) -> Callable[[str, Settings], Model]:
        """A function that opens a run's models: the editor's own, and those whose keys the client keeps."""
        keys = ApiKeys(self._client, self._runs, run) if self._client.capabilities.keys else None

        def open_model(name: str, settings: Settings) -> Model:
            from greenloop.models import roles  # noqa: PLC0415 - only runs need it, not the start

            if name == EDITOR:
                return EditorModel(self._client, self._streams, settings)
            return roles.open_model(name, settings, keys)

        return open_model

    async def require(self, run: Run) -> None:
        """Returns when a model is available. Raises `ModelError` with the remedy where none is."""
        if EDITOR in models(run.settings) and not self._client.capabilities.model:
            raise ModelError(
                "This editor does not provide a language model.",
                remedy="Choose another with the setting 'model', such as local.",
            )
        if run.settings.model:
            return
        default_model = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.default_model")
        run.progress.status = "looking for a model"
        if await default_model.choose(run.settings):
            return
        hardware = importlib.import_module("greenloop.models.embedded.hardware")
        weights = importlib.import_module("greenloop.models.embedded.weights")
        # Raises where the model could not run here, so that a useless download is not offered.
        hardware.check(weights.CODER.size, run.settings.embedded.context)
        if await self._client.ask(QUESTION, (DOWNLOAD, "Not now")) != DOWNLOAD:
            editor_hint = " The editor's own model is called `editor`." if self._client.capabilities.model else ""
            raise ModelError("No model is configured and none was found.", remedy=REMEDY + editor_hint)

        def report(done: int, total: int) -> None:
            share = done * 100 // max(total, 1)
            self._runs.set_status(run, f"downloading the model, {share} % of {total / 1e9:.1f} GB")

        await weights.pull(report)
        self._client.show_message("The embedded model is ready.")
