"""`greenloop/choices`: the models and presets that can be chosen here.

Sends no request except a short one to Ollama.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import Mapping
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.core.text.redact import clean_for_display
from greenloop.engine.presets import load_presets
from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import CHOICES
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.project.settings import Settings

# Seconds in which Ollama must answer.
PATIENCE = 2.0


def register(server: LanguageServer, client: Client, documents: Documents, settings: SettingsLoader) -> None:
    @server.feature(CHOICES)
    async def choices(params: Any) -> dict[str, Any]:
        await settings.wait_shortly()
        roots = documents.roots()
        uri = params.get("uri") if isinstance(params, Mapping) else None
        file = locations.locate_for_display(documents, uri) if isinstance(uri, str) else None
        root = file.root if file is not None else roots[0] if roots else None
        loaded = settings.load(root)
        presets = await asyncio.to_thread(load_presets)
        names = sorted(presets, key=lambda name: name != "default")
        return {
            "models": await _models(client, loaded),
            "presets": [
                {"name": name, "about": presets[name].description} for name in names if not presets[name].blind
            ],
            "model": loaded.model,
            "preset": loaded.preset,
        }


async def _models(client: Client, settings: Settings) -> list[dict[str, str]]:
    """The models to choose from. A name that ends with a slash is a provider, to be completed with a model."""
    choices = [await asyncio.to_thread(_embedded_choice)]
    if client.capabilities.model:
        choices.append(_choice("editor", "the language model of this editor"))
    default_model = importlib.import_module("greenloop.models.embedded.default_model")
    ollama: list[str] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            ollama = await default_model.ollama_models(default_model.ollama_base(os.environ))
    choices += [_choice(f"ollama/{clean_for_display(name)}", "free, on this machine, with Ollama") for name in ollama]
    if settings.model not in ("", *(each["name"] for each in choices)):
        choices.append(_choice(settings.model, "from your settings"))
    for variable in default_model.available_keys(os.environ):
        provider = default_model.provider_of(variable)
        choices.append(_choice(f"{provider}/", f"a model of {provider} (API key in {variable}); may cost money"))
    return choices


def _choice(name: str, description: str, needs: str = "") -> dict[str, str]:
    """One choice; `needs` is what must be done before it can be used."""
    return {"name": name, "about": description, "needs": needs}


def _embedded_choice() -> dict[str, str]:
    """The choice of the embedded model. Imports and reads the disk, so it belongs in a thread."""
    importlib.import_module("greenloop.models.embedded.default_model")
    hardware = importlib.import_module("greenloop.models.embedded.hardware")
    weights = importlib.import_module("greenloop.models.embedded.weights")
    description = "embedded: free, runs on this machine, nothing leaves it"
    if not hardware.is_engine_installed():
        return _choice("local", f"{description}; its engine (greenloop[local]) is not installed", "install")
    if weights.downloaded_file() is None:
        return _choice("local", f"{description}; not downloaded yet (1.1 GB)", "pull")
    return _choice("local", description)
