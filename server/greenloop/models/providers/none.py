"""No model: `--model none`, and the place of a model where none is configured and none was found.

A run does what needs none, and ends with this model's error where it would be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from greenloop.core.errors import ModelError
from greenloop.core.records.model import NO_MODEL, ChatRequest
from greenloop.core.text.tokens import estimate_tokens
from greenloop.models.default_model import missing_remedy
from greenloop.project.settings import Settings


def create(name: str, settings: Settings) -> NoModel:  # noqa: ARG001 - the signature that all models share
    return NoModel()


def needed() -> ModelError:
    """The error of a run that cannot go on without a model."""
    return ModelError("That needs a model: none is configured, and none was found.", remedy=missing_remedy())


class NoModel:
    """Answers nothing."""

    name = NO_MODEL
    slots = 0  # questions that it answers

    async def complete(self, _request: ChatRequest, _on_token: Callable[[str], None]) -> NoReturn:
        """Raises `ModelError` with the models to choose from."""
        raise needed()

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        pass
