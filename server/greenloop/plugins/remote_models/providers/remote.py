"""The port of models that are asked over the network, which `models/remote_models.py` finds.

It must not import slowly: names are checked before each run, also where none of these models is asked.
"""

from __future__ import annotations

from greenloop.core.ports import KeyStore, Model
from greenloop.plugins.remote_models.checks import check
from greenloop.plugins.remote_models.known_models import find_provider, is_hosted
from greenloop.project.settings import Settings

__all__ = ["check", "create", "find_provider", "is_hosted"]


def create(name: str, settings: Settings, keys: KeyStore | None = None) -> Model:
    """Makes the model; `keys` is called on the first request if the environment lacks the key.

    Raises `ModelError` for a name that nobody knows, and for a missing key where there is no `keys`.
    """
    from greenloop.plugins.remote_models.model import Remote  # noqa: PLC0415 - it imports httpx, which is slow

    check(name, settings, needs_key=keys is None)
    return Remote(name, settings, keys=keys)
