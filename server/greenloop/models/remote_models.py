"""Finds the provider of all models that no other provider knows, which are asked over the network.

A plugin adds it as a part `models` with the name `remote`, a module like
`plugins/remote_models/providers/remote.py`. This module must not know how they are asked.
"""

from __future__ import annotations

from typing import Any

from greenloop.core import registry
from greenloop.core.errors import ModelError

REMOTE = "remote"


def find_remote_models() -> Any:
    """The module that asks these models; None where the plugin is not installed."""
    return registry.load_part("models", REMOTE) if registry.has_part("models", REMOTE) else None


def require_remote_models() -> Any:
    """The module that asks these models. Raises `ModelError` where the plugin is not installed."""
    if (module := find_remote_models()) is None:
        raise ModelError(
            "Models over the network are not installed.",
            remedy="Install greenloop again, with its plugins, or name another model, such as local.",
        )
    return module
