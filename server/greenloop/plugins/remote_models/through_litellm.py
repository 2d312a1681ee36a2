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

from greenloop.core.budget import count_prompt_tokens
from greenloop.core.records.model import ChatRequest, Usage
from greenloop.core.text.tokens import estimate_tokens
from greenloop.models.chat.completions import CONNECT_SECONDS, Connection
from greenloop.plugins.remote_models import known_models
from greenloop.plugins.remote_models.known_models import ADDRESSES, OLLAMA, find_provider
from greenloop.plugins.remote_models.messages import CACHE, mark_prefixes, takes_marks, write_messages, write_tools
from greenloop.plugins.remote_models.refusals import LIMIT, Refusals
from greenloop.project.settings import Settings

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


# -- parameters -------------------------------------------------------------------------------------------------------


LEAST_CONTEXT, SPARE = 4096, 256  # tokens that Ollama reserves at least, and beyond prompt and answer
# Tokens that litellm lets Claude think, which have to be fewer than those of the whole answer.
BUDGETS = {"minimal": 1024, "low": 1024, "medium": 2048, "high": 4096}

Parameters = dict[str, Any]


def write_parameters(request: ChatRequest, model: str, settings: Settings, refusals: Refusals) -> Parameters:
    """The parameters of a request to a model by its full name."""
    provider = find_provider(model)
    messages = write_messages(request.messages, provider, left_out=refusals.left_out)
    if takes_marks(provider, model) and CACHE not in refusals.left_out:
        mark_prefixes(messages)
    most = known_models.known_output(model)
    parameters: Parameters = {
        "model": model,
        "messages": messages,
        LIMIT: min(request.max_tokens, most) if most else request.max_tokens,
        "temperature": request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools and not known_models.refuses_tools(model):
        parameters["tools"] = write_tools(request.tools)
    if request.seed is not None:
        parameters["seed"] = request.seed
    if request.stop:
        parameters["stop"] = list(request.stop)
    if request.frequency_penalty:
        parameters["frequency_penalty"] = request.frequency_penalty
    if effort := _effort(settings.api.effort, model, parameters[LIMIT]):
        parameters["reasoning_effort"] = effort
        if "claude" in model:
            del parameters["temperature"]  # it only thinks at 1
    if model.startswith(OLLAMA):
        _write_for_ollama(parameters, request, settings)
    elif _is_for_responses(model, settings, has_tools="tools" in parameters):
        _write_for_responses(parameters)
    return refusals.accepted(parameters)


def _effort(effort: str, model: str, limit: int) -> str:
    """The effort, or the highest that leaves room for an answer; empty where the model takes none."""
    if not effort or known_models.refuses_effort(model):
        return ""
    if "claude" not in model or known_models.thinks_adaptively(model):
        return effort
    affordable = [name for name, budget in BUDGETS.items() if budget < limit and budget <= BUDGETS[effort]]
    return affordable[-1] if affordable else ""


def _write_for_ollama(parameters: Parameters, request: ChatRequest, settings: Settings) -> None:
    # Without `num_ctx` Ollama silently cuts long prompts. Another number loads the model again, so it doubles.
    usual = max(LEAST_CONTEXT, settings.prompt.tokens + request.max_tokens + SPARE)
    wanted = count_prompt_tokens(request, estimate_tokens) + request.max_tokens + SPARE
    parameters["num_ctx"] = usual if wanted <= usual else 1 << (wanted - 1).bit_length()
    if penalty := parameters.pop("frequency_penalty", 0.0):
        # Ollama has a factor, and 0.5 as a factor would be a reward.
        parameters["repeat_penalty"] = 1 + penalty / 2


def _is_for_responses(model: str, settings: Settings, *, has_tools: bool) -> bool:
    """Is the model asked by OpenAI's Responses API, where its reasoning comes back with the results of its calls?"""
    if find_provider(model) != "openai":
        return False
    facts = known_models.entry(model)
    is_own = settings.api.base or any(map(os.environ.get, ADDRESSES))
    reasons_with_tools = bool(has_tools and facts.get("supports_reasoning") and not is_own)
    return "/responses/" in model or facts.get("mode") == "responses" or reasons_with_tools


def _write_for_responses(parameters: Parameters) -> None:
    name = parameters["model"].removeprefix("openai/").removeprefix("responses/")
    # Nothing is kept there, so the reasoning itself goes back and forth, encrypted.
    parameters |= {
        "model": f"openai/responses/{name}",
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
