"""Writes the parameters of a request in the form of chat completions, as far as the model accepts them.

It must not know keys and addresses.
"""

from __future__ import annotations

import os
from typing import Any

from greenloop.core.budget import count_prompt_tokens
from greenloop.core.records.model import ChatRequest
from greenloop.core.text.tokens import estimate_tokens
from greenloop.models import known_models
from greenloop.models.chat.messages import CACHE, mark_prefixes, takes_marks, write_messages, write_tools
from greenloop.models.chat.refusals import LIMIT, Refusals
from greenloop.models.known_providers import ADDRESSES, OLLAMA, find_provider
from greenloop.project.settings import Settings

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
