"""Nested tables: as dotted keys, and laid over one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each value with its dotted key."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def overlay(base: Any, part: Any) -> Any:
    """The values of `part`, and those of `base` that it does not have."""
    if isinstance(base, dict) and isinstance(part, dict):
        return base | {key: overlay(base.get(key), value) for key, value in part.items()}
    return part
