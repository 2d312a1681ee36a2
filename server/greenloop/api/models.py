"""The models that the settings name, and those that can be chosen on this machine, before a run needs them."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from greenloop.core import registry
from greenloop.core.errors import ModelError, UsageError
from greenloop.core.ports import Model
from greenloop.core.text.redact import clean_for_display
from greenloop.models import default_model, roles
from greenloop.models.default_model import available_keys
from greenloop.models.local_models import find_local_models, require_local_models
from greenloop.models.remote_models import find_remote_models
from greenloop.models.roles import Models, open_model
from greenloop.project.settings import EDITOR, Settings
from greenloop.project.settings import models as named_models

PATIENCE = 2.0  # seconds in which Ollama must answer


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """A model to choose; a name that ends with a slash is that of a provider, and lacks the model.

    `needs` is the step before its first use: `install` (the engine), `pull` (the weights) or nothing.
    """

    name: str
    about: str
    needs: str = ""


async def check_models(settings: Settings) -> None:
    """Raises `ModelError` for a model with an unknown name or without a key."""
    await Models(settings=settings).check()


def require_keys(settings: Settings) -> None:
    """Raises `ModelError` for a known provider whose key is missing; other names are checked when a run begins."""
    remote = find_remote_models()
    for name in sorted(named_models(settings) - {EDITOR}):
        if remote and remote.find_provider(name):
            roles.check_model(name, settings, needs_key=True)


async def has_model(settings: Settings) -> bool:
    """Is a model configured, or one found on this machine?"""
    return bool(settings.drafter.model) or bool(await default_model.choose(settings))


async def list_models(settings: Settings) -> list[ModelChoice]:
    """Lists the embedded models, those of Ollama, the one in the settings, and the providers whose keys are set."""
    embedded = find_local_models()
    found = await asyncio.to_thread(embedded.list_choices) if embedded else ()
    choices = [ModelChoice(name=name, about=about, needs=needs) for name, about, needs in found]
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            for name in await default_model.ollama_models(default_model.ollama_base(os.environ)):
                about = "free, on this machine, with Ollama"
                choices.append(ModelChoice(name=f"ollama/{clean_for_display(name)}", about=about))
    if settings.model not in ("", EDITOR, *(each.name for each in choices)):
        choices.append(ModelChoice(name=settings.model, about="from your settings"))
    for variable in available_keys(os.environ):
        provider = default_model.provider_of(variable)
        about = f"a model of {provider} (API key in {variable}); may cost money"
        choices.append(ModelChoice(name=f"{provider}/", about=about))
    return choices


def embedded_weights() -> Path | None:
    """The weights of the default embedded model; None if they are not downloaded."""
    file: Path | None = require_local_models().downloaded_file()
    return file


async def pull_embedded(progress: Callable[[int, int], None]) -> Path:
    """Downloads the default embedded model; `progress` gets bytes done and in total. Raises `ModelError`."""
    file: Path = await require_local_models().pull(progress)
    return file


async def why_embedded_cannot_run(settings: Settings) -> str:
    """Returns why the default embedded model cannot run on this machine now, with the remedy; "" if it can."""
    embedded = find_local_models()
    return str(await asyncio.to_thread(embedded.why_not, settings)) if embedded else "It is not installed."


def recording_opener(path: Path, settings: Settings, target: str) -> Callable[[str, Settings], Model]:
    """Returns an opener of models for `RefineSession` that writes every exchange to a new file, for `replay:FILE`.

    Raises `UsageError` if the file exists or cannot be made.
    """
    replay = registry.load_part("models", "replay")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(replay.run_line(target, settings))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be made: {error.strerror}.", remedy="Name a new file: --record FILE."
        ) from error
    return lambda name, chosen: replay.record_model(open_model(name, chosen), path)
