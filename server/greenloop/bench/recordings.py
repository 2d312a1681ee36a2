"""Every answer is kept: arms that ask the same share it, and a run that goes on after a kill pays nothing twice.

One JSON line an answer, keyed by model, prompt and sampling; at temperature 0 the seed does not matter.
An answer from the file is billed as it was when it was asked for: tokens, money and seconds.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic
from typing import Any

from greenloop.core.errors import UsageProblem
from greenloop.core.nouns import Completion, Hole, Reply, Role, Usage
from greenloop.core.ports import Infiller, Model, slots

# Repeats of a task are apart by so much in their seeds.
APART = 10_007


class Recordings:
    """The file of answers. A line that a kill cut off is no answer; the next one begins on a line of its own."""

    def __init__(self, path: Path) -> None:
        """Raises `UsageProblem` where the file cannot be read."""
        self._path = path
        self._replies: dict[str, Reply] = {}
        try:
            text = path.read_bytes().decode("utf-8", errors="replace") if path.exists() else ""
        except OSError as error:
            raise UsageProblem(f"{path} cannot be read: {error.strerror}.", remedy="Name another file.") from error
        for line in text.split("\n"):
            try:
                row = json.loads(line)
                self._replies[row["key"]] = Reply(**{**row["reply"], "usage": Usage(**row["reply"]["usage"])})
            except (ValueError, KeyError, TypeError):
                continue
        self._begin = "\n" if text and not text.endswith("\n") else ""

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, key: str) -> Reply | None:
        return self._replies.get(key)

    def put(self, key: str, reply: Reply) -> None:
        self._replies[key] = reply
        with self._path.open("a", encoding="utf-8") as file:
            file.write(self._begin + json.dumps({"key": key, "reply": asdict(reply)}, ensure_ascii=False) + "\n")
        self._begin = ""


def key(model: str, request: Completion | Hole) -> str:
    """What two requests share that get the same answer: the model, the prompt and the sampling, not the role."""
    told: dict[str, Any] = {name: value for name, value in asdict(request).items() if name != "role"}
    if not request.temperature:
        del told["seed"]
    text = json.dumps([model, type(request).__name__, told], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def shared(models: Mapping[Role, Model], recordings: Recordings) -> Shared:
    """The models of the roles, asked only for what the recordings do not have; holes are filled where they can be."""
    return (SharedInfiller if isinstance(models[Role.DRAFTER], Infiller) else Shared)(models, recordings)


class Shared:
    """Counts what one run asks: `calls`, seconds really `waited`, and seconds that recordings `saved`.

    Requests side by side wait once: the seconds of a group are those of its longest. `repeat` moves every seed.
    """

    def __init__(self, models: Mapping[Role, Model], recordings: Recordings) -> None:
        self._models = models
        self.model = models[Role.DRAFTER]
        self._recordings = recordings
        self._asking: dict[str, asyncio.Future[None]] = {}
        self._group: list[float] = []
        self._open, self._since = 0, 0.0
        self.begin(0)

    def begin(self, repeat: int) -> None:
        """A new run: counts from nothing."""
        self.repeat = repeat
        self.calls = self.hits = 0
        self.waited = self.saved = 0.0

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def slots(self) -> int:
        return slots(self.model)

    def count_tokens(self, text: str) -> int:
        return self.model.count_tokens(text)

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        request, model = self._moved(request), self._models[request.role]
        return await self._answer(key(model.name, request), on_token, lambda: model.complete(request, on_token))

    async def close(self) -> None:
        """The model belongs to the harness, not to one run."""

    def _moved(self, request: Any) -> Any:
        if not self.repeat or request.seed is None:
            return request
        return replace(request, seed=request.seed + APART * self.repeat)

    async def _answer(self, wanted: str, on_token: Callable[[str], None], ask: Callable[[], Any]) -> Reply:
        self.calls += 1
        while wanted in self._asking:
            # Somebody asks the same at this moment; where that comes to nothing, this one asks.
            await asyncio.wait([self._asking[wanted]])
        recorded = self._recordings.get(wanted)
        if recorded is not None:
            self.hits += 1
            await self._skip(recorded.usage.model_seconds)
            if recorded.text:
                on_token(recorded.text)
            return recorded
        return await self._really(wanted, ask)

    async def _skip(self, seconds: float) -> None:
        """Requests that were made side by side come here before any of them goes on."""
        self._group.append(seconds)
        await asyncio.sleep(0)
        if self._group:
            self.saved += max(self._group)
            self._group.clear()

    async def _really(self, wanted: str, ask: Callable[[], Any]) -> Reply:
        done = self._asking[wanted] = asyncio.get_running_loop().create_future()
        if not self._open:
            self._since = monotonic()
        self._open += 1
        try:
            reply: Reply = await ask()
            self._recordings.put(wanted, reply)
        finally:
            self._open -= 1
            if not self._open:
                self.waited += monotonic() - self._since
            del self._asking[wanted]
            done.set_result(None)
        return reply


class SharedInfiller(Shared):
    """The same for a model that fills holes too."""

    async def infill(self, request: Hole, on_token: Callable[[str], None]) -> Reply:
        request, model = self._moved(request), self._models[request.role]
        assert isinstance(model, Infiller)
        return await self._answer(key(model.name, request), on_token, lambda: model.infill(request, on_token))
