"""Finds the provider of a model, its address and the variables of its key, without the slow import of litellm.

It must not know which keys are set.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from greenloop.models import known_models

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
    facts = known_models.table().get(name, {}) if slash else known_models.entry(name)
    listed = str(facts.get("litellm_provider", ""))
    # Some providers have several groups in the table, such as vertex_ai-language-models and bedrock_converse.
    groups = (listed, listed.partition("-")[0], listed.partition("_")[0])
    return next((each for each in groups if each in providers()), "") or _routed(name)


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
        source = (known_models.package() / "types/utils.py").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return frozenset(DIRECT)
    listing = source.partition(NAMES)[2].partition("\n\n\n")[0]
    return frozenset(FIRST.findall(listing)) | _compatible().keys() | DIRECT.keys()


@cache
def _compatible() -> Mapping[str, Mapping[str, Any]]:
    try:
        listed: Mapping[str, Mapping[str, Any]] = json.loads((known_models.package() / COMPATIBLE).read_bytes())
    except (OSError, ValueError):
        return {}
    return listed


def _routed(name: str) -> str:
    """The provider of new models of a family."""
    if not known_models.table():
        return "openai" if OPENAI_NAMES.match(name) else ""
    for rule in known_models.table().get("fallback_generalizations", {}).get("rules", ()):
        provider = rule.get("model_info", {}).get("litellm_provider")
        if provider and re.search(rule.get("pattern", "$^"), name, re.IGNORECASE):
            return str(provider)
    return ""
