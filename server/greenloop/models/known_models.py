"""Facts about models by their names, from the table of litellm where it is installed, without its slow import.

It must not know what is asked of a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from greenloop.core.records.usage import Usage

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
