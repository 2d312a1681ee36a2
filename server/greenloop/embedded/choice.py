"""Which model is used when the user named none: what is on this machine, and never a paid one silently."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import httpx

from greenloop.embedded import machine, weights
from greenloop.settings import Settings

# Environment variables that providers' keys usually stand in.
KEYS = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "GROQ_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
    "TOGETHERAI_API_KEY",
    "AZURE_API_KEY",
)


async def choose(settings: Settings, environ: Mapping[str, str] | None = None) -> str:
    """The model's name: the setting, else `local` when it can run, else Ollama's first model; empty: ask the user."""
    if settings.model:
        return settings.model
    if sys.platform != "win32" and weights.present() is not None and machine.engine_present():
        return "local"
    models = await ollama_models(ollama_base(os.environ if environ is None else environ))
    return f"ollama/{models[0]}" if models else ""


def offers(environ: Mapping[str, str]) -> list[str]:
    """Names of the environment variables with a provider's key. To be offered, never to be used by themselves."""
    return [name for name in KEYS if environ.get(name)]


def provider_of(variable: str) -> str:
    """The provider, as models' names begin with it, whose key usually stands in that environment variable."""
    name = variable.removesuffix("_API_KEY").lower()
    return {"togetherai": "together_ai"}.get(name, name)


def ollama_base(environ: Mapping[str, str]) -> str:
    """Where Ollama answers on this machine; `OLLAMA_HOST` as Ollama itself reads it."""
    host = environ.get("OLLAMA_HOST", "").strip().rstrip("/") or "127.0.0.1:11434"
    scheme, separator, rest = host.rpartition("://")
    name, colon, port = rest.partition(":")
    # A server that listens everywhere is reached at home.
    name = "127.0.0.1" if name in {"", "0.0.0.0"} else name  # noqa: S104 - compared, not bound
    default = {"https": "443", "http": "80"}.get(scheme, "11434")
    return f"{scheme or 'http'}{separator or '://'}{name}:{port if colon else default}"


async def ollama_models(base: str) -> list[str]:
    """The models of the Ollama at `base`, in its own order; none when it does not answer quickly."""
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=2) as client:
            response = await client.get(f"{base}/api/tags")
            found = response.json()["models"]
            return [str(model["name"]) for model in found]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        return []
