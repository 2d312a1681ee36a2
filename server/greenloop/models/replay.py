"""Recorded answers of another model: for tests and experiments that must come out the same again.

`replay:FILE` answers from FILE; `recording(model, path)` wraps a model and writes such a file.
FILE is JSONL, one exchange a line; its `key` is a hash of the messages and the sampling, so that order does not matter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from greenloop.core.errors import ModelProblem, UsageProblem
from greenloop.core.nouns import Completion, Reply, Usage
from greenloop.core.ports import Model
from greenloop.core.tokens import estimate
from greenloop.settings import Settings


def create(name: str, settings: Settings) -> Replay:  # noqa: ARG001 - the signature every model shares
    """Raises `UsageProblem` when the file cannot be read or a line of it is not an exchange."""
    _, _, file = name.partition(":")
    if not file:
        raise UsageProblem("The replay model needs a file.", remedy="Write it as replay:FILE.")
    return Replay(name, Path(file).expanduser())


def recording(model: Model, path: Path) -> Recording:
    """`model`, with every answer appended to `path`. Nothing is kept of a request that fails or is cancelled."""
    return Recording(model, path)


def key(request: Completion) -> str:
    """What two requests must share to get the same answer: the messages and the sampling, not the role."""
    sampled = {name: value for name, value in asdict(request).items() if name != "role"}
    return hashlib.sha256(json.dumps(sampled, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Replay:
    """Owns the place in each exchange that was recorded more than once: its answers come in their order, then again."""

    def __init__(self, name: str, path: Path) -> None:
        self._name = name
        self._path = path
        self._exchanges = _read(path)
        self._asked: dict[str, int] = {}

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelProblem` when this request was never recorded."""
        wanted = key(request)
        replies = self._exchanges.get(wanted)
        if replies is None:
            raise ModelProblem(
                f"{self._path} has no answer to this request (key {wanted[:12]}…).",
                remedy="Record it again with the same code, tests and settings.",
            )
        count = self._asked.get(wanted, 0)
        self._asked[wanted] = count + 1
        reply = replies[count % len(replies)]
        if reply.text:
            on_token(reply.text)
        return reply

    def count_tokens(self, text: str) -> int:
        return estimate(text)

    async def close(self) -> None:
        pass


class Recording:
    """Passes everything on, and owns the file it writes to."""

    def __init__(self, model: Model, path: Path) -> None:
        self._model = model
        self._path = path

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        reply = await self._model.complete(request, on_token)
        line = json.dumps({"key": key(request), "reply": asdict(reply)}, ensure_ascii=False)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        return reply

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    async def close(self) -> None:
        await self._model.close()


def _read(path: Path) -> dict[str, list[Reply]]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(
            f"The replay file {path} cannot be read: {error}.", remedy="Name a recorded file."
        ) from error
    exchanges: dict[str, list[Reply]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            exchange = json.loads(line)
            exchanges.setdefault(exchange["key"], []).append(_reply(exchange["reply"]))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageProblem(
                f"Line {number} of the replay file {path} is not a recorded exchange.", remedy="Record the file again."
            ) from error
    return exchanges


def _reply(record: dict[str, Any]) -> Reply:
    return Reply(**{**record, "usage": Usage(**record["usage"])})
