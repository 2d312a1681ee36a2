"""Provides a run's models and the keys that the client keeps; offers a download where one was needed."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Mapping

from greenloop.core.errors import ModelError
from greenloop.core.ports import Model
from greenloop.core.records.outcome import StopReason
from greenloop.lsp.connection.client import PERSON, Client, with_timeout
from greenloop.lsp.connection.messages import KEY
from greenloop.lsp.runs.editor_messages import ModelInfo
from greenloop.lsp.runs.editor_model import AnswerStreams, EditorModel, request_info
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import Run
from greenloop.project.settings import EDITOR, Settings, models

DOWNLOAD = "Download (1.1 GB)"
QUESTION = "Download the embedded model (1.1 GB)? It runs on this machine, and nothing leaves it."


class ModelSetup:
    """The models of runs."""

    def __init__(self, client: Client, runs: Runs, streams: AnswerStreams) -> None:
        self._client, self._runs, self._streams = client, runs, streams

    async def opener(self, run: Run) -> Callable[[str, Settings], Model]:
        """A function that opens a run's models: the editor's own, and those whose keys the client keeps."""
        keys = ApiKeys(self._client, self._runs, run) if self._client.capabilities.keys else None
        info = await request_info(self._client) if EDITOR in models(run.settings) else ModelInfo()

        def open_model(name: str, settings: Settings) -> Model:
            from greenloop.models import roles  # noqa: PLC0415 - only runs need it, not the start

            if name == EDITOR:
                return EditorModel(self._client, self._streams, settings, info)
            return roles.open_model(name, settings, keys)

        return open_model

    async def require(self, run: Run) -> None:
        """Raises `ModelError` with the remedy where the settings name a model that this editor cannot provide."""
        if EDITOR in models(run.settings) and not self._client.capabilities.model:
            raise ModelError(
                "This editor does not provide a language model.",
                remedy="Choose another with the setting 'model', such as local.",
            )
        if not self._client.capabilities.keys:
            await asyncio.to_thread(_require_keys, run.settings)
        if not run.request.downloads_model:
            return
        weights = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.weights")

        def report(done: int, total: int) -> None:
            share = done * 100 // max(total, 1)
            self._runs.set_status(run, f"downloading the model, {share} % of {total / 1e9:.1f} GB")

        await weights.pull(report)
        self._client.show_message("The embedded model is ready.")

    async def offer(self, run: Run) -> bool:
        """Does the user want to download a model for a run that ended because it needs one?

        A client that declared `refusals` offers it beside the refusal.
        """
        needs_model = run.result.refusal_code == "model" or (run.outcome and run.outcome.reason is StopReason.MODEL)
        if not needs_model or run.settings.model or self._client.capabilities.refusals:
            return False
        default_model = await asyncio.to_thread(importlib.import_module, "greenloop.models.embedded.default_model")
        if await default_model.choose(run.settings):
            return False
        hardware = importlib.import_module("greenloop.models.embedded.hardware")
        catalogue = importlib.import_module("greenloop.models.embedded.catalogue")
        try:
            await asyncio.to_thread(hardware.check, catalogue.find(catalogue.DEFAULT), run.settings.embedded)
        except ModelError:
            return False  # it could not run here
        return await self._client.ask(QUESTION, (DOWNLOAD, "Not now")) == DOWNLOAD


def _require_keys(settings: Settings) -> None:
    """Raises `ModelError` for a known provider whose key is missing. Other names are the engine's to check."""
    from greenloop.models import known_providers, roles  # noqa: PLC0415 - as above

    for name in sorted(models(settings) - {EDITOR}):
        if known_providers.find_provider(name):
            roles.check_model(name, settings, needs_key=True)


class ApiKeys:
    """The keys of one run; each is requested once, and the user has time to find it."""

    def __init__(self, client: Client, runs: Runs, run: Run) -> None:
        self._client, self._runs, self._run = client, runs, run
        self._keys: dict[str, str | None] = {}
        self._lock = asyncio.Lock()

    async def __call__(self, provider: str, variable: str) -> str | None:
        async with self._lock:
            if variable not in self._keys:
                self._keys[variable] = await self._request(provider, variable)
            return self._keys[variable]

    async def _request(self, provider: str, variable: str) -> str | None:
        earlier_status = self._run.progress.status
        self._runs.set_status(self._run, f"waiting for the API key of {provider}")
        request = asyncio.ensure_future(self._client.request(KEY, {"provider": provider, "variable": variable}))
        try:
            reply = await with_timeout(request, PERSON, "for a key")
        finally:
            # The user need not look for a key that is no longer needed.
            request.cancel()
            self._runs.set_status(self._run, earlier_status)
        key = reply.get("key") if isinstance(reply, Mapping) else None
        return key.strip() or None if isinstance(key, str) else None
