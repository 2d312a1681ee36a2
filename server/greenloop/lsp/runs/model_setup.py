"""Provides a run's models and the keys that the client keeps; offers a download where one was needed."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Awaitable, Callable, Mapping

from greenloop import api
from greenloop.api.settings import EDITOR, Settings, models
from greenloop.core.errors import ModelError
from greenloop.core.ports import Model
from greenloop.lsp.connection.client import PERSON, Client, with_timeout
from greenloop.lsp.connection.messages import KEY
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import Run

DOWNLOAD = "Download (1.1 GB)"
QUESTION = "Download the embedded model (1.1 GB)? It runs on this machine, and nothing leaves it."


class ModelSetup:
    """The models of runs. `own_model` prepares the editor's own for one run; the feature that has it sets it."""

    def __init__(self, client: Client, runs: Runs) -> None:
        self._client, self._runs = client, runs
        self.own_model: Callable[[], Awaitable[Callable[[Settings], Model]]] | None = None

    async def opener(self, run: Run) -> Callable[[str, Settings], Model]:
        """A function that opens a run's models: the editor's own, and those whose keys the client keeps."""
        keys = ApiKeys(self._client, self._runs, run) if self._client.capabilities.keys else None
        own = await self.own_model() if self.own_model and EDITOR in models(run.settings) else None

        def open_model(name: str, settings: Settings) -> Model:
            if own is not None and name == EDITOR:
                return own(settings)
            return api.models.open_model(name, settings, keys)

        return open_model

    async def require(self, run: Run) -> None:
        """Raises `ModelError` with the remedy where the settings name a model that this editor cannot provide."""
        has_own = self.own_model is not None and self._client.capabilities.model
        if EDITOR in models(run.settings) and not has_own:
            raise ModelError(
                "This editor does not provide a language model.",
                remedy="Choose another with the setting 'model', such as local.",
            )
        models_api = await asyncio.to_thread(importlib.import_module, "greenloop.api.models")
        if not self._client.capabilities.keys:
            await asyncio.to_thread(models_api.require_keys, run.settings)
        if not run.request.downloads_model:
            return

        def report(done: int, total: int) -> None:
            share = done * 100 // max(total, 1)
            self._runs.set_status(run, f"downloading the model, {share} % of {total / 1e9:.1f} GB")

        await models_api.pull_embedded(report)
        self._client.show_message("The embedded model is ready.")

    async def offer(self, run: Run) -> bool:
        """Does the user want to download a model for a run that ended because it needs one?

        A client that declared `refusals` offers it with the refusal.
        """
        if not run.needed_model or run.settings.model or self._client.capabilities.refusals:
            return False
        models_api = await asyncio.to_thread(importlib.import_module, "greenloop.api.models")
        if await models_api.has_model(run.settings) or await models_api.why_embedded_cannot_run(run.settings):
            return False
        return await self._client.ask(QUESTION, (DOWNLOAD, "Not now")) == DOWNLOAD


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
