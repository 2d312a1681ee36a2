"""Finds the models that greenloop itself runs on this machine: `local`, and `local/NAME`.

A plugin adds them by an entry point of the group `greenloop.local_models`, which names a module like
`plugins/embedded/local_models.py`, and runs them by a model provider `local`. This module must not know how they are
downloaded or served.
"""

from __future__ import annotations

from typing import Any

from greenloop.core import entry_points
from greenloop.core.errors import ModelError

LOCAL = "local"


def is_local(name: str) -> bool:
    """Does that value of the setting `model` name one of these models, known or not?"""
    return name.partition("/")[0] == LOCAL


def find_local_models() -> Any:
    """The module that manages these models; None where the plugin is not installed."""
    return next(iter(entry_points.load_all(entry_points.LOCAL_MODELS)), None)


def require_local_models() -> Any:
    """The module that manages these models. Raises `ModelError` where the plugin is not installed."""
    if (module := find_local_models()) is None:
        raise ModelError(
            "The embedded model is not installed.",
            remedy="Install greenloop again, with its plugins, or name another model, such as ollama/NAME.",
        )
    return module
