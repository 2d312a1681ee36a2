"""Replays recorded answers of another model, for reproducible tests and experiments.

`replay:FILE` answers from FILE, which `greenloop fix --record FILE` writes.
FILE is JSONL: a line about the run, then one exchange per line; its `key` is a hash of the messages (or the infill) and
the sampling, so that order does not matter. `hole` marks an infill; `slots` (if more than one), `context` (if known)
and `tools` (whether it takes any) are the recorded model's.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from greenloop.core.errors import ModelError, UsageError
from greenloop.core.ports import Infiller, Model, calls_tools, context, slots
from greenloop.core.records.model import ChatRequest, InfillRequest, Reply
from greenloop.core.text.tokens import estimate_tokens
from greenloop.models.kinds import kind_of
from greenloop.plugins.recordings.recorded import key_fields, reply_from
from greenloop.project.settings import Settings, get, keys


def create(name: str, settings: Settings) -> Replay:  # noqa: ARG001 - the signature that all models share
    """A replay model, which does infills if the recorded one did.

    Raises `UsageError` when the file cannot be read or a line of it is not an exchange.
    """
    _, _, file = name.partition(":")
    if not file:
        raise UsageError("The replay model needs a file.", remedy="Write it as replay:FILE.")
    path = Path(file).expanduser()
    recorded = _read(path)
    return (InfillingReplay if recorded.has_infills else Replay)(name, path, recorded)


def request_key(request: ChatRequest | InfillRequest) -> str:
    """The key of a request: requests with the same messages and sampling get the same answer, whatever the role.

    At temperature 0 the seed has no effect and is left out.
    """
    return _hash(request if request.temperature else replace(request, seed=None))


def _request_keys(request: ChatRequest | InfillRequest) -> Iterator[str]:
    """The key of a request, then the one that older files use for it."""
    yield request_key(request)
    yield _hash(request)


def _hash(request: ChatRequest | InfillRequest) -> str:
    sampled = key_fields(request)
    if not sampled.get("frequency_penalty", True):
        # Older files do not have this penalty.
        del sampled["frequency_penalty"]
    for name, usual in (("lines", 1), ("is_statement", False), ("avoid", ""), ("fillings", 1)):
        if sampled.get(name) == usual:  # older files do not have these of infills either
            del sampled[name]
    return hashlib.sha256(json.dumps(sampled, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@dataclass
class Recorded:
    """The contents of a file: what its first line says of the run, and the replies by key, in order."""

    run: dict[str, Any] = field(default_factory=dict)
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    has_infills: bool = False
    slots: int = 1
    context: int = 0
    calls_tools: bool = False

    @property
    def versions(self) -> str:
        """The versions that recorded it, to end a sentence."""
        return " with greenloop {greenloop} and Python {python}".format_map(self.run) if self.run else ""


def recorded_settings(name: str) -> dict[str, Any]:
    """Returns the settings of the run that `replay:FILE` has recorded, by key. Raises `UsageError` as `create` does."""
    settings = _read(Path(name.partition(":")[2]).expanduser()).run.get("settings", {})
    return {key: value for key, value in settings.items() if key.startswith(REQUEST_SETTINGS)}


class Replay:
    """Answers from a recording; a request recorded several times gets its answers in order, then from the start."""

    def __init__(self, name: str, path: Path, recorded: Recorded) -> None:
        self._name = name
        self._path = path
        self._recorded = recorded
        self._answer_counts: dict[str, int] = {}

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        """The recorded model's number of slots, on which the requests depend."""
        return self._recorded.slots

    @property
    def context(self) -> int:
        """The recorded model's context, on which the requests depend too."""
        return self._recorded.context

    @property
    def calls_tools(self) -> bool:
        """Did the recorded model take tools?"""
        return self._recorded.calls_tools

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelError` when this request was never recorded."""
        return self._answer(request, on_token)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        pass

    def _answer(self, request: ChatRequest | InfillRequest, on_token: Callable[[str], None]) -> Reply:
        matching_key = next((each for each in _request_keys(request) if each in self._recorded.replies), None)
        if matching_key is None:
            raise ModelError(
                f"{self._path} has no answer to this request (key {request_key(request)[:12]}…).",
                remedy=f"Use the same code, tests and settings{self._recorded.versions}, or record it again.",
            )
        replies = self._recorded.replies[matching_key]
        count = self._answer_counts.get(matching_key, 0)
        self._answer_counts[matching_key] = count + 1
        reply = replies[count % len(replies)]
        if reply.text:
            on_token(reply.text)
        return reply


class InfillingReplay(Replay):
    """A replay with recorded infills."""

    async def infill(self, request: InfillRequest, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelError` when this infill was never recorded."""
        return self._answer(request, on_token)


def _read(path: Path) -> Recorded:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The replay file {path} cannot be read: {error}.", remedy="Name a recorded file.") from error
    contents = Recorded()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            exchange = json.loads(line)
            if "run" in exchange:
                contents.run = {"greenloop": "", "python": "", **exchange["run"]}
                continue
            contents.replies.setdefault(exchange["key"], []).append(reply_from(exchange["reply"]))
            contents.has_infills = contents.has_infills or bool(exchange.get("hole"))
            contents.slots = max(contents.slots, int(exchange.get("slots", 1)))
            contents.context = max(contents.context, int(exchange.get("context", 0)))
            contents.calls_tools = contents.calls_tools or bool(exchange.get("tools"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"Line {number} of the replay file {path} is not a recorded exchange.", remedy="Record the file again."
            ) from error
    return contents


# -- recording --------------------------------------------------------------------------------------------------------

# How the keys of settings on which requests depend begin. A recording comes from another user: it sets no others.
REQUEST_SETTINGS = (
    *("preset", "attempts", "regions", "tokens", "ask", "ladder.", "prompt.", "answer.", "feedback.", "improve."),
    *("drafter.t", "refiner.t", "critic.t", "tester.t", "planner.t", "planner.skip", "spec.design", "spec.noticed"),
    *("spec.constraints", "escalation.after", "model.kind"),
)


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
