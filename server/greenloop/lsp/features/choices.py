"""`greenloop/choices`: the models and presets that can be chosen here. Asks nobody but Ollama, and not for long."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from greenloop import registry
from greenloop.core.redact import clean
from greenloop.lsp import places
from greenloop.lsp.features import configuration
from greenloop.lsp.protocol import CHOICES

if TYPE_CHECKING:
    from greenloop.lsp.server import Server
    from greenloop.settings import Settings

# Seconds in which an Ollama answers.
PATIENCE = 2.0


def register(server: Server) -> None:
    @server.feature(CHOICES)
    async def choices(params: Any) -> dict[str, Any]:
        await configuration.known(server)
        roots = server.documents.roots()
        uri = params.get("uri") if isinstance(params, Mapping) else None
        place = places.of_or_none(server, uri) if isinstance(uri, str) else None
        root = place.root if place is not None else roots[0] if roots else None
        settings = configuration.load(server, root)
        presets = await asyncio.to_thread(registry.presets)
        names = sorted(presets, key=lambda name: name != "default")
        return {
            "models": await _models(server, settings),
            "presets": [{"name": name, "about": presets[name].about} for name in names if not presets[name].blind],
            "model": settings.model,
            "preset": settings.preset,
        }


async def _models(server: Server, settings: Settings) -> list[dict[str, str]]:
    """A name that ends with a slash is a provider, whose model is still to be named."""
    found = [await asyncio.to_thread(_embedded)]
    if server.abilities.model:
        found.append(_choice("editor", "the language model of this editor"))
    choice = importlib.import_module("greenloop.embedded.choice")
    ollama: list[str] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            ollama = await choice.ollama_models(choice.ollama_base(os.environ))
    found += [_choice(f"ollama/{clean(name)}", "free, on this machine, by Ollama") for name in ollama]
    if settings.model not in ("", *(each["name"] for each in found)):
        found.append(_choice(settings.model, "the one of the settings"))
    for variable in choice.offers(os.environ):
        provider = choice.provider_of(variable)
        found.append(_choice(f"{provider}/", f"a model of {provider}, whose key is in {variable}; may cost money"))
    return found


def _choice(name: str, about: str, needs: str = "") -> dict[str, str]:
    """`needs`: what is missing yet."""
    return {"name": name, "about": about, "needs": needs}


def _embedded() -> dict[str, str]:
    """The imports and a look at the disk, in a thread."""
    importlib.import_module("greenloop.embedded.choice")
    machine = importlib.import_module("greenloop.embedded.machine")
    weights = importlib.import_module("greenloop.embedded.weights")
    about = "embedded: free, on this machine, and nothing leaves it"
    if not machine.engine_present():
        return _choice("local", f"{about}; its engine (greenloop[local]) is not installed", "install")
    if weights.present() is None:
        return _choice("local", f"{about}; not fetched yet (1.1 GB)", "pull")
    return _choice("local", about)
