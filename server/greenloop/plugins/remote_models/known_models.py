"""Facts about models by their names, from the table of litellm where it is installed, without its slow import.

It must not know what is asked of a model.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from greenloop.core.records.model import Usage

TABLE = "model_prices_and_context_window_backup.json"
CHAT = ("chat", "responses")


def known_context(name: str) -> int:
    """Tokens of prompt and answer that a model takes, by its name with or without its provider; 0 where unknown."""
    return _number(name, "max_input_tokens")


def known_output(name: str) -> int:
    """The most tokens of an answer; 0 where unknown."""
    return _number(name, "max_output_tokens")


def cost(name: str, usage: Usage) -> float | None:
    """The price of these tokens in US dollars, those from the cache at their own; None where it is unknown."""
    facts = entry(name)
    read, written = facts.get("input_cost_per_token"), facts.get("output_cost_per_token")
    if read is None or written is None:
        return None
    cached = facts.get("cache_read_input_token_cost", read)
    new = usage.prompt_tokens - usage.cached_tokens
    return float(new * read + usage.cached_tokens * cached + usage.completion_tokens * written)


def refuses_tools(name: str) -> bool:
    """Does the table say that a model takes no tools?"""
    return entry(name).get("supports_function_calling") is False


def refuses_effort(name: str) -> bool:
    """Is a model in the table, and not among those that reason?"""
    return bool(entry(name)) and not entry(name).get("supports_reasoning")


def thinks_adaptively(name: str) -> bool:
    """Does a model decide how many tokens it thinks, so that no number is sent?"""
    return bool(entry(name).get("supports_adaptive_thinking"))


def entry(name: str) -> Mapping[str, Any]:
    """Returns the table's entry for a model, tried with fewer and fewer prefixes; empty if the name is not known.

    A model that the user has trained (ft:MODEL:NAME) is like the one that it comes from.
    """
    models = table()
    while name not in models and "/" in name:
        name = name.partition("/")[2]
    origin = ":".join(name.split(":")[:2]) if name.startswith("ft:") else name
    return models.get(name) or models.get(origin, {})


def chat_models() -> Iterator[str]:
    """The names in the table that can be asked."""
    return (name for name, facts in table().items() if facts.get("mode") in CHAT and name != "sample_spec")


@cache
def table() -> Mapping[str, Mapping[str, Any]]:
    """The whole table; empty where it cannot be read."""
    try:
        models: Mapping[str, Mapping[str, Any]] = json.loads((package() / TABLE).read_bytes())
    except (OSError, ValueError):
        return {}
    return models


def is_installed() -> bool:
    """Is litellm there, which the extra `providers` brings?"""
    return find_spec("litellm") is not None


def package() -> Path:
    """The folder of litellm's package, whose files can be read without an import."""
    spec = find_spec("litellm")
    folders = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(folders or ()), "no litellm"))


def _number(name: str, key: str) -> int:
    tokens = entry(name).get(key)
    return tokens if isinstance(tokens, int) else 0


def is_hosted(name: str) -> bool:
    """Is it a model of a provider's own, with a price?"""
    found = entry(name)
    return bool(found.get("input_cost_per_token")) or bool(found.get("output_cost_per_token"))


# -- providers --------------------------------------------------------------------------------------------------------


OLLAMA = ("ollama/", "ollama_chat/")
ADDRESSES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")  # variables of another server with OpenAI's protocol
# Providers that are asked without litellm: the address of each, where it has one, and the variables of another.
DIRECT: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "openai": ("https://api.openai.com/v1", ADDRESSES),
    "openai_like": ("", ("OPENAI_LIKE_API_BASE",)),
    "hosted_vllm": ("", ("HOSTED_VLLM_API_BASE",)),
    "llamafile": ("http://127.0.0.1:8080/v1", ("LLAMAFILE_API_BASE",)),
    "lm_studio": ("http://127.0.0.1:1234/v1", ("LM_STUDIO_API_BASE",)),
    "ollama": ("", ()),
    "ollama_chat": ("", ()),
}
RESPONSES = "openai/responses/"  # OpenAI's other protocol, which litellm speaks
OPENAI_NAMES = re.compile(r"(?:ft:)?(?:gpt-|chatgpt-|o\d)")
NAMES, FIRST = "class LlmProviders(str, Enum):", re.compile(r'^    \w+ = "([^"]+)"', re.MULTILINE)
COMPATIBLE = "llms/openai_like/providers.json"
# Providers whose key is in a variable of their own name.
USUAL = frozenset(
    """ai21 anthropic baseten cerebras codestral cohere dashscope deepinfra deepseek edenai featherless_ai fireworks_ai
    gemini groq huggingface inception mistral modelscope moonshot nebius nlp_cloud novita nvidia_nim openai openrouter
    qwencloud replicate sambanova tencent vercel_ai_gateway volcengine wandb xai zai""".split()  # noqa: SIM905 - a list literal would take 35 lines
)
# The other variables that litellm reads, the one to name first.
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "ai21_chat": ("AI21_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "cohere_chat": ("COHERE_API_KEY", "CO_API_KEY"),
    "dashscope": ("DASHSCOPE_API_KEY",),
    "datarobot": ("DATAROBOT_API_TOKEN",),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY", "FIREWORKSAI_API_KEY", "FIREWORKS_AI_TOKEN"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "huggingface": ("HUGGINGFACE_API_KEY", "HF_TOKEN"),
    "lambda_ai": ("LAMBDA_API_KEY",),
    "meta_llama": ("LLAMA_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "qwencloud": ("QWENCLOUD_API_KEY", "DASHSCOPE_API_KEY"),
    "text-completion-openai": ("OPENAI_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_AI_TOKEN"),
}


def find_provider(name: str) -> str:
    """Finds the provider of a model: the first part of its name, else the one of the table; empty: unknown."""
    first, slash, _rest = name.partition("/")
    if slash and first in providers():
        return first
    facts = table().get(name, {}) if slash else entry(name)
    listed = str(facts.get("litellm_provider", ""))
    # Some providers have several groups in the table, such as vertex_ai-language-models and bedrock_converse.
    groups = (listed, listed.partition("-")[0], listed.partition("_")[0])
    return next((each for each in groups if each in providers()), "") or _family_provider(name)


def asks_directly(name: str) -> bool:
    """Is a model, by its full name, asked without litellm?"""
    return name.partition("/")[0] in DIRECT and not name.startswith(RESPONSES)


def address_of(provider: str) -> str:
    """The address of a provider that is asked without litellm; empty where it has none."""
    usual, variables = DIRECT.get(provider, ("", ()))
    return next(filter(None, map(os.environ.get, variables)), usual)


def key_variables(provider: str) -> tuple[str, ...]:
    """The variables of which one holds a provider's key, the usual one first; empty where no single key is known."""
    compatible = _compatible().get(provider, {}).get("api_key_env")
    if provider in VARIABLES:
        return VARIABLES[provider]
    if compatible:
        return (str(compatible),)
    return (f"{provider.upper()}_API_KEY",) if provider in USUAL else ()


@cache
def providers() -> frozenset[str]:
    """The providers that are known: those that are asked directly, and litellm's where it is installed."""
    try:
        source = (package() / "types/utils.py").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return frozenset(DIRECT)
    listing = source.partition(NAMES)[2].partition("\n\n\n")[0]
    return frozenset(FIRST.findall(listing)) | _compatible().keys() | DIRECT.keys()


@cache
def _compatible() -> Mapping[str, Mapping[str, Any]]:
    try:
        listed: Mapping[str, Mapping[str, Any]] = json.loads((package() / COMPATIBLE).read_bytes())
    except (OSError, ValueError):
        return {}
    return listed


def _family_provider(name: str) -> str:
    """The provider of new models of a family."""
    if not table():
        return "openai" if OPENAI_NAMES.match(name) else ""
    for rule in table().get("fallback_generalizations", {}).get("rules", ()):
        provider = rule.get("model_info", {}).get("litellm_provider")
        if provider and re.search(rule.get("pattern", "$^"), name, re.IGNORECASE):
            return str(provider)
    return ""
