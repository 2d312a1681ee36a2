"""Chooses the model and temperature per role; escalates when attempts fail; opens models lazily."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from greenloop.core import registry
from greenloop.core.classify import failure_key
from greenloop.core.errors import ModelError
from greenloop.core.ports import KeyStore, Model
from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.model import NO_MODEL, ChatRequest, Role
from greenloop.models.default_model import choose
from greenloop.models.local_models import LOCAL, is_local, require_local_models
from greenloop.models.remote_models import REMOTE, require_remote_models
from greenloop.project.settings import EDITOR, Settings, get
from greenloop.project.settings import models as named_models

STEP = 0.4  # by which `rising` increases the temperature
HOTTEST = 1.0
FIRST = 0.8  # initial temperature of `decay`
WRITERS = (Role.DRAFTER, Role.REFINER)
# Moves with whole answers; infills are too small to count.
WHOLE = (Move.DRAFT, Move.REFINE, Move.RESTART, Move.MERGE, Move.TURN)


def apply_sampling(settings: Settings, request: ChatRequest, attempts: Sequence[Attempt]) -> ChatRequest:
    """The request with its role's token limit, and the temperature after applying the role's schedule."""
    tokens = int(get(settings, f"{request.role}.tokens"))
    schedule = get(settings, f"{request.role}.temperature")
    temperature = request.temperature
    if schedule == "rising":
        # Attempts that failed like an earlier one; the user's own code counts as an earlier one.
        signatures = [failure_key(attempt) for attempt in attempts]
        repetitions = sum(each in signatures[:number] for number, each in enumerate(signatures))
        temperature = min(HOTTEST, temperature + STEP * repetitions)
    if schedule == "decay":
        answers = sum(attempt.draft is not None and attempt.draft.role is request.role for attempt in attempts)
        temperature = max(temperature, FIRST * 0.5**answers)
    return replace(request, temperature=round(temperature, 2), max_tokens=tokens or request.max_tokens)


def count_failures(attempts: Sequence[Attempt]) -> int:
    """The number of a model's whole answers that did not solve the problem."""
    return sum(
        attempt.draft is not None and attempt.draft.move in WHOLE and not attempt.accepted for attempt in attempts
    )


def check_model(name: str, settings: Settings, *, needs_key: bool) -> None:
    """Raises `ModelError` for an unknown name or a missing key, without opening the model.

    `needs_key`: no editor can provide a key, nor its own model.
    """
    if name == EDITOR:
        if needs_key:
            raise ModelError(
                '`model = "editor"` works only inside an editor that provides a language model.',
                remedy="Name another model, such as local.",
            )
    elif is_local(name):
        require_local_models().check(name)
    elif _provider(name) == REMOTE:
        require_remote_models().check(name, settings, needs_key=needs_key)


def open_model(name: str, settings: Settings, keys: KeyStore | None = None) -> Model:
    """Opens a model by name: one of the registered kinds, else a remote one; `keys` asks the editor for API keys.

    Raises `ModelError` for the editor's own model, which only an editor can provide.
    """
    if name == EDITOR:
        check_model(name, settings, needs_key=True)
    provider = _provider(name)
    model: Model
    if provider == REMOTE:
        model = require_remote_models().create(name, settings, keys)
    else:
        model = registry.load_part("models", provider).create(name, settings)
    return model


def _provider(name: str) -> str:
    kind = LOCAL if is_local(name) else name.split(":", 1)[0]
    return kind if registry.has_part("models", kind) else REMOTE


@dataclass(kw_only=True)
class Models:
    """The models of a run, one for each name, opened on first use.

    `failures` is the number of failed attempts so far, which decides how far down `escalation.models` the run is;
    `factory` opens a model by name.
    """

    settings: Settings
    override: Model | None = None
    opened: dict[str, Model] = field(default_factory=dict)
    default_name: str = ""
    failures: int = 0
    factory: Callable[[str, Settings], Model] | None = None

    async def check(self) -> None:
        """Raises `ModelError` for a model with an unknown name or without a key, before anything runs."""
        if not self.override:
            for name in sorted(named_models(self.settings) - self.opened.keys()):
                await asyncio.to_thread(check_model, name, self.settings, needs_key=self.factory is None)

    async def model_for(self, role: Role) -> Model:
        """The model for a role; one that answers nothing if none is configured and none is found."""
        if self.override:
            return self.override
        name = await self.chosen_name(role)
        if name not in self.opened:
            self.opened[name] = (self.factory or open_model)(name, self.settings)
        return self.opened[name]

    async def chosen_name(self, role: Role) -> str:
        """The name of the model for a role, chosen now where the settings name none; `none` where none is found."""
        if not (name := self.name_of(role)):
            name = self.default_name = await choose(self.settings) or NO_MODEL
        return name

    def opened_model(self, role: Role) -> Model | None:
        """The model for a role if it has been opened already, for any role; else None."""
        return self.override or self.opened.get(self.name_of(role))

    def name_of(self, role: Role) -> str:
        """The name of the model that `model_for` returns; empty before a default was chosen."""
        if self.override:
            return self.override.name
        escalation = self.settings.escalation
        step = self.failures // escalation.after
        if step and escalation.models and role in WRITERS:
            return escalation.models[min(step, len(escalation.models)) - 1]
        return str(get(self.settings, f"{role}.model") or self.settings.model or self.default_name)

    async def close(self) -> None:
        for model in self.opened.values():
            await model.close()
