"""What litellm's table says about a model, without an import of litellm, which takes seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TABLE = "model_prices_and_context_window_backup.json"


def known_context(name: str) -> int:
    """Tokens of prompt and answer that a model takes, by its name with or without its provider; 0 where unknown."""
    table = _table()
    entry = table.get(name) or table.get(name.partition("/")[2]) or {}
    tokens = entry.get("max_input_tokens")
    return tokens if isinstance(tokens, int) else 0


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    spec = find_spec("litellm")
    folders = spec.submodule_search_locations if spec is not None else None
    try:
        table: Mapping[str, Mapping[str, Any]] = json.loads((Path(next(iter(folders or ()))) / TABLE).read_bytes())
    except (StopIteration, OSError, ValueError):
        return {}
    return table


def is_hosted(name: str) -> bool:
    """Is it a model of a provider's own, with a price?"""
    table = _table()
    entry = table.get(name) or table.get(name.partition("/")[2]) or {}
    return bool(entry.get("input_cost_per_token")) or bool(entry.get("output_cost_per_token"))
