"""Checks a model's name and key before anything runs, without the slow import of litellm.

It asks no provider, so it must not refuse a name only because the table is older than the model.
"""

from __future__ import annotations

import os
import re

from greenloop.core.errors import ModelError, UsageError
from greenloop.core.text.similar import closest, similar
from greenloop.plugins.remote_models import known_models
from greenloop.plugins.remote_models.known_models import (
    ADDRESSES,
    asks_directly,
    find_provider,
    key_variables,
    providers,
)
from greenloop.project.environment.installation import extra_command
from greenloop.project.settings import ApiSettings, Settings

# Providers all of whose models are in the table, up to those that are newer than it.
LISTED = ("anthropic", "deepseek", "gemini", "mistral", "openai", "xai")
VERTEX = ("VERTEXAI_PROJECT", "VERTEX_PROJECT", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS")
VERSION = re.compile(r"[\d.]+")
ALIKE = 0.8  # similarity from which on a name is a misspelling of another


def check(name: str, settings: Settings, *, needs_key: bool = True) -> None:
    """Raises `ModelError` for a missing key, an unknown provider or a misspelt name, with the remedy.

    With `api.base` any name is right, and no key is needed. `needs_key`: nobody else can provide a missing key.
    """
    if not name:
        raise UsageError("No model is named.", remedy="Set `model`, for example to local or ollama/NAME.")
    api = settings.api
    if needs_key and api.key and not os.environ.get(api.key):
        raise ModelError(
            f"The environment variable {api.key}, which `api.key` names, is not set.",
            remedy="Set it to the provider's key, or empty `api.key` to use the provider's usual variable.",
        )
    if not known_models.is_installed() and not asks_directly(full_name(name, api)):
        raise ModelError(
            f"{name} is asked through litellm, which is not installed.",
            remedy=f"Run `{extra_command('providers')}`, or name a model of Ollama or OpenAI, or `local`.",
        )
    if api.base:
        return
    provider = find_provider(name)
    has_price = known_models.is_installed() or provider != "openai" or any(map(os.environ.get, ADDRESSES))
    if settings.cost and not has_price:
        raise ModelError(
            f"`cost` cannot limit {name}, whose price only litellm knows.",
            remedy=f"Run `{extra_command('providers')}`, or limit `tokens` and empty `cost`.",
        )
    if not provider:
        raise ModelError(f"No provider is known for the model '{name}'.", remedy=_where_unknown(name))
    if similar := _misspelt(name, provider):
        raise ModelError(
            f"{provider} has no model with the name {name}.",
            remedy=f"Name {similar}. A model that greenloop does not know yet can be asked for with `api.base`.",
        )
    _provider, variable = missing_key(name, api)
    if needs_key and variable:
        raise ModelError(
            f"There is no key for {name}.",
            remedy=f"Put one into the environment variable {variable}, or name another variable in `api.key`.",
        )
    if needs_key and provider == "vertex_ai" and "/" not in name and not any(map(os.environ.get, VERTEX)):
        raise ModelError(
            f"{name} alone means the model of Vertex AI, whose project is not set.",
            remedy=f"Write gemini/{name} for the model of the Gemini API, or set VERTEXAI_PROJECT.",
        )


def missing_key(name: str, api: ApiSettings) -> tuple[str, str]:
    """The provider of a model and the environment variable that lacks its key; both empty if no key is missing."""
    provider = find_provider(name)
    if api.key or api.base:
        # A server set by the user needs the key in `api.key`, or none.
        return (provider, api.key) if api.key and not os.environ.get(api.key) else ("", "")
    variables = key_variables(provider)
    if not variables or any(map(os.environ.get, variables)):
        return "", ""
    return provider, variables[0]


def full_name(name: str, api: ApiSettings) -> str:
    """The name with its provider; a server of the user's own speaks OpenAI's protocol."""
    provider = find_provider(name)
    if not provider:
        return f"openai/{name}" if api.base else name
    return name if name.startswith(f"{provider}/") else f"{provider}/{name}"


def _where_unknown(name: str) -> str:
    first, slash, rest = name.partition("/")
    listed = [each for each in known_models.chat_models() if each.rpartition("/")[2] == name]
    usual = min(listed, key=lambda each: (each.partition("/")[0] not in LISTED, len(each)), default="")
    if not usual and slash:
        usual = next((f"{each}/{rest}" for each in similar(first, sorted(providers()))), "")
    if not usual:
        bare = [each for each in known_models.chat_models() if "/" not in each]
        relatives = [each for each in bare if _family(each) == _family(name)]
        usual = next((f"{find_provider(each)}/{name}" for each in relatives), "")
        usual = usual or closest(name, bare, likeness=ALIKE)
    suggestion = f"Name {usual}, or write" if usual else "Write"
    return f"{suggestion} it as provider/model, such as ollama/llama3.2 or openai/gpt-4o, or `local`."


def _misspelt(name: str, provider: str) -> str:
    """The model that was meant, if the name is a misspelling of it; empty for a known, a new or any other name.

    A name that differs only in numbers is that of a newer or older version.
    """
    model = name.removeprefix(f"{provider}/").removeprefix("responses/")
    if provider not in LISTED or ":" in model or (provider == "openai" and any(map(os.environ.get, ADDRESSES))):
        return ""
    listed = {
        each.removeprefix(f"{provider}/"): each
        for each in known_models.chat_models()
        if known_models.entry(each).get("litellm_provider") == provider
    }
    if model in listed or _family(model) in set(map(_family, listed)):
        return ""
    return listed.get(closest(model, listed, likeness=ALIKE), "")


def _family(model: str) -> str:
    return VERSION.sub("#", model)
