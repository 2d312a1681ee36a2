"""Tells small models from capable ones by their names and settings.

It must not know what either kind is asked.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from greenloop.core.records.model import NO_MODEL, ModelKind
from greenloop.models.local_models import is_local
from greenloop.models.remote_models import find_remote_models
from greenloop.project.settings import EDITOR, Settings

CAPABLE_FROM = 14.0  # billions of parameters
CLIENT = "client"  # the model of an MCP client
_RECORDED = ("scripted:", "replay:")
_OLLAMA = ("ollama/", "ollama_chat/")
_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z0-9])", re.IGNORECASE)
_LOCAL = re.compile(r"^(localhost|127\.|0\.0\.0\.0|\[?::1|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|.*\.local$)")


def kind_of(name: str, settings: Settings) -> ModelKind:
    """Returns the kind of a model: by the setting, else by its size where the name has one, else by where it runs."""
    if name == NO_MODEL:
        return ModelKind.SMALL
    if settings.model_kind != "auto":
        return ModelKind(settings.model_kind)
    if not name or is_local(name) or name.startswith(_RECORDED):
        return ModelKind.SMALL
    if name in (EDITOR, CLIENT):
        return ModelKind.CAPABLE
    if size := parameters_of(name):
        return ModelKind.CAPABLE if size >= CAPABLE_FROM else ModelKind.SMALL
    if (remote := find_remote_models()) and remote.is_hosted(name):
        return ModelKind.CAPABLE
    runs_here = name.startswith(_OLLAMA) or _LOCAL.match(urlsplit(settings.api.base).hostname or "")
    return ModelKind.SMALL if runs_here else ModelKind.CAPABLE


def parameters_of(name: str) -> float:
    """Billions of parameters that a model's name states (`qwen2.5-coder:7b`, `mixtral-8x7b`); 0 where it has none."""
    sizes = [float(times or 1) * float(size) for times, size in _SIZE.findall(name)]
    return max(sizes, default=0.0)
