"""Recorded answers of another model: for tests and experiments that must come out the same again.

`replay:FILE` answers from FILE; `recording(model, path)` wraps a model and writes such a file.
FILE is JSONL, one exchange a line; its `key` is a hash of the messages (or the hole) and the sampling, so that order
does not matter. `hole` marks the filling of one; `slots` are the recorded model's, where it had more than one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from greenloop.core.errors import ModelProblem, UsageProblem
from greenloop.core.nouns import Completion, Hole, Reply, Usage
from greenloop.core.ports import Infiller, Model, slots
from greenloop.core.tokens import estimate
from greenloop.settings import Settings


def create(name: str, settings: Settings) -> Replay:  # noqa: ARG001 - the signature every model shares
    """A model that fills holes if the recorded one did.

    Raises `UsageProblem` when the file cannot be read or a line of it is not an exchange.
    """
    _, _, file = name.partition(":")
    if not file:
        raise UsageProblem("The replay model needs a file.", remedy="Write it as replay:FILE.")
    path = Path(file).expanduser()
    recorded = _read(path)
    return (InfillingReplay if recorded.holes else Replay)(name, path, recorded)


def recording(model: Model, path: Path) -> Recording:
    """`model`, with every answer appended to `path`. Nothing is kept of a request that fails or is cancelled."""
    if isinstance(model, Infiller):
        return InfillingRecording(model, path)
    return Recording(model, path)


def key(request: Completion | Hole) -> str:
    """What two requests must share to get the same answer: the question and the sampling, not the role.

    At temperature 0 the seed draws nothing.
    """
    return _hash(request if request.temperature else replace(request, seed=None))


def _keys(request: Completion | Hole) -> Iterator[str]:
    """The key, and the one that older files have for it."""
    yield key(request)
    yield _hash(request)


def _hash(request: Completion | Hole) -> str:
    sampled = {name: value for name, value in asdict(request).items() if name != "role"}
    if not sampled.get("frequency_penalty", True):
        # Older files know of no such penalty.
        del sampled["frequency_penalty"]
    return hashlib.sha256(json.dumps(sampled, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@dataclass
class Recorded:
    """What a file holds: the replies by key, in their order."""

    replies: dict[str, list[Reply]] = field(default_factory=dict)
    holes: bool = False
    slots: int = 1


class Replay:
    """Owns the place in each exchange that was recorded more than once: its answers come in their order, then again."""

    def __init__(self, name: str, path: Path, recorded: Recorded) -> None:
        self._name = name
        self._path = path
        self._recorded = recorded
        self._asked: dict[str, int] = {}

    @property
    def name(self) -> str:
        return self._name

    @property
    def slots(self) -> int:
        """As many as the recorded model had: what is asked depends on it."""
        return self._recorded.slots

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelProblem` when this request was never recorded."""
        return self._answer(request, on_token)

    def count_tokens(self, text: str) -> int:
        return estimate(text)

    async def close(self) -> None:
        pass

    def _answer(self, request: Completion | Hole, on_token: Callable[[str], None]) -> Reply:
        wanted = next((each for each in _keys(request) if each in self._recorded.replies), None)
        if wanted is None:
            raise ModelProblem(
                f"{self._path} has no answer to this request (key {key(request)[:12]}…).",
                remedy="Record it again with the same code, tests and settings.",
            )
        replies = self._recorded.replies[wanted]
        count = self._asked.get(wanted, 0)
        self._asked[wanted] = count + 1
        reply = replies[count % len(replies)]
        if reply.text:
            on_token(reply.text)
        return reply


class InfillingReplay(Replay):
    """A replay with recorded holes."""

    async def infill(self, request: Hole, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelProblem` when this hole was never recorded."""
        return self._answer(request, on_token)


class Recording:
    """Passes everything on, and owns the file it writes to."""

    def __init__(self, model: Model, path: Path) -> None:
        self._model = model
        self._path = path

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def slots(self) -> int:
        return slots(self._model)

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        reply = await self._model.complete(request, on_token)
        self._write(request, reply)
        return reply

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    async def close(self) -> None:
        await self._model.close()

    def _write(self, request: Completion | Hole, reply: Reply) -> None:
        exchange: dict[str, Any] = {"key": key(request), "reply": asdict(reply)}
        if isinstance(request, Hole):
            exchange["hole"] = True
        if self.slots > 1:
            exchange["slots"] = self.slots
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(exchange, ensure_ascii=False) + "\n")


class InfillingRecording(Recording):
    """A recording of a model that fills holes."""

    async def infill(self, request: Hole, on_token: Callable[[str], None]) -> Reply:
        assert isinstance(self._model, Infiller)
        reply = await self._model.infill(request, on_token)
        self._write(request, reply)
        return reply


def _read(path: Path) -> Recorded:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(
            f"The replay file {path} cannot be read: {error}.", remedy="Name a recorded file."
        ) from error
    recorded = Recorded()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            exchange = json.loads(line)
            recorded.replies.setdefault(exchange["key"], []).append(_reply(exchange["reply"]))
            recorded.holes = recorded.holes or bool(exchange.get("hole"))
            recorded.slots = max(recorded.slots, int(exchange.get("slots", 1)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageProblem(
                f"Line {number} of the replay file {path} is not a recorded exchange.", remedy="Record the file again."
            ) from error
    return recorded


def _reply(record: dict[str, Any]) -> Reply:
    return Reply(**{**record, "usage": Usage(**record["usage"])})
