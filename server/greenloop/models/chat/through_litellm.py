"""Sends a request through litellm, which speaks the languages of all other providers: an extra, imported when needed.

Its import takes seconds; importing this module does not import it.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from importlib import import_module
from typing import Any

import httpx

from greenloop.core.records.usage import Usage
from greenloop.models import known_models
from greenloop.models.chat.completions import CONNECT_SECONDS, Connection
from greenloop.models.known_providers import find_provider

# litellm sets such filters while it is imported, in a thread, and whoever parses code meanwhile would take it back.
warnings.filterwarnings("ignore", category=UserWarning, module="pydantic")


def load() -> Any:
    """Imports litellm so that it makes no network requests, reads no project's .env and prints nothing."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    litellm: Any = import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # The aiohttp transport leaves sessions open when the event loop ends.
    litellm.disable_aiohttp_transport = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


async def stream(parameters: Mapping[str, Any], connection: Connection) -> AsyncGenerator[Any, None]:
    """Yields the pieces of the answer; raises the errors of litellm's client, else as `completions.stream`."""
    litellm = load()
    model = parameters["model"]
    correct(litellm, model)
    arguments: dict[str, Any] = {**parameters, "drop_params": True, "max_retries": 0, "num_retries": 0}
    if "reasoning_effort" in parameters and find_provider(model) == "openai" and not known_models.entry(model):
        # litellm drops it for names that it does not know.
        arguments["allowed_openai_params"] = ["reasoning_effort"]
    # A little more than our own timeout, which distinguishes a silent model from a slow connection.
    seconds = connection.seconds
    arguments["timeout"] = httpx.Timeout(seconds + 5, connect=min(CONNECT_SECONDS, seconds))
    arguments |= {"api_base": connection.base} if connection.base else {}
    arguments |= {"api_key": connection.key} if connection.key else {}
    # Closing tells the provider to stop generating, also when this task is cancelled.
    async with aclosing(await litellm.acompletion(**arguments)) as pieces:
        async for piece in pieces:
            # litellm counts tokens itself where the provider did not.
            if getattr(piece, "usage", None) and not any(getattr(each, "usage", None) for each in pieces.chunks):
                piece.usage = None
            yield piece
        # It makes up a reason for the end, too.
        if not (pieces.received_finish_reason or pieces.intermittent_finish_reason):
            raise ConnectionError("the answer ended early")


def cost(litellm: Any, name: str, usage: Usage, counts: Any) -> float | None:
    """The cost in US dollars; None if the price is unknown."""
    tokens = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    try:
        model = name.replace("openai/responses/", "openai/")
        return float(sum(litellm.cost_per_token(model=model, usage_object=counts, **tokens)))
    except Exception:  # noqa: BLE001 - litellm raises many types for an unknown price
        return None


# -- faults of litellm for single providers; its release is pinned, so a correction holds until another one is taken ---


def correct(litellm: Any, name: str) -> None:
    """Corrects what concerns a model by its full name; once is enough, more often does no harm."""
    provider = name.partition("/")[0]
    if provider == "openai":
        _replace(litellm.OpenAIResponsesAPIConfig, "should_fake_stream", _fakes_stream)
    if provider in {"gemini", "vertex_ai"}:
        read = litellm.VertexGeminiConfig._check_finish_reason  # noqa: SLF001 - the only place to correct it
        # It says that an answer is over with each of its pieces, so that one that ends early would look whole.
        only_stated = staticmethod(lambda message, stated: read(message, stated) if stated else None)
        _replace(litellm.VertexGeminiConfig, "_check_finish_reason", only_stated)


def _fakes_stream(_config: Any, model: str | None, stream: bool | None, *_provider: Any, **_named: Any) -> bool:
    """Does a model's answer only come as a whole? litellm believes it of every model that is newer than its table."""
    return stream is True and known_models.entry(model or "").get("supports_native_streaming") is False


def _replace(owner: Any, name: str, replacement: Any) -> None:
    corrected = f"corrected_{name}"
    if not hasattr(owner, corrected):
        setattr(owner, name, replacement)
        setattr(owner, corrected, True)
