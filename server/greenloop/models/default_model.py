"""Chooses the model if the user named none: only one on this machine, never silently a paid one."""

from __future__ import annotations

import os
from collections.abc import Mapping

from greenloop.models.local_models import find_local_models
from greenloop.project.settings import Settings

# Environment variables that usually hold providers' API keys.
KEYS = (
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY",
    "OPENROUTER_API_KEY", "XAI_API_KEY", "TOGETHERAI_API_KEY", "AZURE_API_KEY",
)  # fmt: skip


async def choose(settings: Settings, environ: Mapping[str, str] | None = None) -> str:
    """The model's name: the setting, else an embedded one that can run, else Ollama's first; empty: ask the user."""
    if settings.model:
        return settings.model
    if (embedded := find_local_models()) and (ready := embedded.ready_models()):
        return str(ready[0])
    models = await ollama_models(ollama_base(os.environ if environ is None else environ))
    return f"ollama/{models[0]}" if models else ""


def missing_remedy() -> str:
    """Returns the remedy if no model was found: the models to choose from."""
    embedded = find_local_models()
    start = f"Run {embedded.steps_to_install()} for the embedded one (1.1 GB), start" if embedded else "Start"
    others = "one of an OpenAI-compatible server (`api.base`) or to a hosted one whose key is set."
    return f"{start} Ollama, or set `model` to {others}"


def available_keys(environ: Mapping[str, str]) -> list[str]:
    """Names of environment variables that hold a provider's key. They are offered, never used automatically."""
    return [name for name in KEYS if environ.get(name)]


def provider_of(variable: str) -> str:
    """The provider (the prefix of its models' names) whose key is usually in that environment variable."""
    name = variable.removesuffix("_API_KEY").lower()
    return {"togetherai": "together_ai"}.get(name, name)


def ollama_base(environ: Mapping[str, str]) -> str:
    """The base URL of Ollama on this machine; reads `OLLAMA_HOST` as Ollama itself does."""
    host = environ.get("OLLAMA_HOST", "").strip().rstrip("/") or "127.0.0.1:11434"
    scheme, separator, rest = host.rpartition("://")
    hostname, colon, port = rest.partition(":")
    # A server that listens on all addresses is reached at the loopback address.
    hostname = "127.0.0.1" if hostname in {"", "0.0.0.0"} else hostname  # noqa: S104 - compared, not bound
    default = {"https": "443", "http": "80"}.get(scheme, "11434")
    return f"{scheme or 'http'}{separator or '://'}{hostname}:{port if colon else default}"


async def ollama_models(base: str) -> list[str]:
    """The models of the Ollama at `base`, in its own order; none if it does not answer within 2 seconds."""
    import httpx  # noqa: PLC0415 - a fifth of what a new process imports, and only needed where no model is set

    try:
        async with httpx.AsyncClient(trust_env=False, timeout=2) as client:
            response = await client.get(f"{base}/api/tags")
            entries = response.json()["models"]
            return [str(model["name"]) for model in entries]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        return []
