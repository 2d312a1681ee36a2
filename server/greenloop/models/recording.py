"""Records a model's answers into a file that `replay:FILE` reads.

The file is JSONL: one line about the run (`run_line`), then each request as the model got it, secrets masked, with its
answer.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from greenloop.core.ports import Infiller, Model, calls_tools, context, slots
from greenloop.core.records.model import ChatRequest, InfillRequest, Reply
from greenloop.models.kinds import kind_of
from greenloop.models.providers.replay import REQUEST_SETTINGS, key_fields, request_key
from greenloop.project.settings import Settings, get, keys


def record_model(model: Model, path: Path) -> Recording:
    """Wraps `model` to append every answer to `path`; requests that fail or are cancelled are not recorded."""
    return (InfillingRecording if isinstance(model, Infiller) else Recording)(model, path)


def run_line(target: str, settings: Settings) -> str:
    """Returns the line that begins a run's recording: versions, model, and the settings on which requests depend."""
    chosen = {key: get(settings, key) for key, _kind, default, _about in keys() if get(settings, key) != default}
    kept = {key: value for key, value in chosen.items() if key.startswith(REQUEST_SETTINGS)}
    run = {
        "target": target,
        "greenloop": version("greenloop"),
        "python": platform.python_version(),
        "model": settings.model,
        "settings": {**kept, "model.kind": str(kind_of(settings.drafter.model or settings.model, settings))},
    }
    return json.dumps({"run": run}, ensure_ascii=False) + "\n"


class Recording:
    """Forwards every request to a model and appends each exchange to a file."""

    def __init__(self, model: Model, path: Path) -> None:
        self._model = model
        self._path = path

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def slots(self) -> int:
        return slots(self._model)

    @property
    def context(self) -> int:
        return context(self._model)

    @property
    def calls_tools(self) -> bool:
        return calls_tools(self._model)

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        reply = await self._model.complete(request, on_token)
        self._write(request, reply)
        return reply

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    async def close(self) -> None:
        await self._model.close()

    def _write(self, request: ChatRequest | InfillRequest, reply: Reply) -> None:
        exchange: dict[str, Any] = {"key": request_key(request), "request": key_fields(request), "reply": asdict(reply)}
        if isinstance(request, InfillRequest):
            exchange["hole"] = True
        if self.slots > 1:
            exchange["slots"] = self.slots
        if self.context:
            exchange["context"] = self.context
        if self.calls_tools:
            exchange["tools"] = True
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(exchange, ensure_ascii=False) + "\n")


class InfillingRecording(Recording):
    """A recording of a model that supports infills."""

    async def infill(self, request: InfillRequest, on_token: Callable[[str], None]) -> Reply:
        assert isinstance(self._model, Infiller)
        reply = await self._model.infill(request, on_token)
        self._write(request, reply)
        return reply
