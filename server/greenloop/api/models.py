"""The models that the settings name, before a run needs them."""

from __future__ import annotations

from greenloop.models.embedded import default_model
from greenloop.models.roles import Models
from greenloop.project.settings import Settings


async def check_models(settings: Settings) -> None:
    """Raises `ModelError` for a model with an unknown name or without a key."""
    await Models(settings=settings).check()


async def has_model(settings: Settings) -> bool:
    """Is a model configured, or one found on this machine?"""
    return bool(settings.drafter.model) or bool(await default_model.choose(settings))
