"""Models that answer from a file: every recorded answer, or the solution, to check the harness and its tasks.

Arms with the same request share its answer, and a resumed run pays for nothing twice. One JSON line per answer, keyed
by model, prompt and sampling; at temperature 0 the seed does not matter. An answer from the file is billed like the
original one: tokens, money and seconds.
"""

from __future__ import annotations

import ast
import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from greenloop.core.errors import UsageError
from greenloop.core.ports import Infiller, Model, calls_tools, context, slots
from greenloop.core.python.ast_source import parse_module_strictly
from greenloop.core.records.model import ChatRequest, InfillRequest, Reply, Usage
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.plugins.recordings.recorded import key_fields, reply_from
from greenloop_lab.bench.tasks import Task

# Difference of the seeds of two repeats of a task.
SEED_STEP = 10_007
# The names of the models that answer with the solution, and with that of the function they are asked about.
REFERENCE, ORACLE = "reference", "oracle"


class Answers(Protocol):
    """Recorded answers by key, for the models of one task."""

    def get(self, key: str) -> Reply | None: ...

    def put(self, key: str, reply: Reply) -> None: ...


class Recordings:
    """The file of answers. A line that was cut off by a kill is ignored; the next one begins on a new line."""

    def __init__(self, path: Path) -> None:
        """Raises `UsageError` where the file cannot be read."""
        self._path = path
        self._replies: dict[str, Reply] = {}
        self._task_of: dict[str, str] = {}
        try:
            text = path.read_bytes().decode("utf-8", errors="replace") if path.exists() else ""
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.", remedy="Name another file.") from error
        for line in text.split("\n"):
            try:
                row = json.loads(line)
                self._replies[row["key"]] = reply_from(row["reply"])
                self._task_of[row["key"]] = row.get("task", "")
            except (ValueError, KeyError, TypeError):
                continue
        self._begin = "\n" if text and not text.endswith("\n") else ""

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, key: str) -> Reply | None:
        return self._replies.get(key)

    def put(self, key: str, reply: Reply, *, task: str = "") -> None:
        """Keeps an answer; `task` is the id of the task that it was asked for."""
        self._replies[key] = reply
        self._task_of[key] = task
        row = {"key": key, "reply": asdict(reply), **({"task": task} if task else {})}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(self._begin + json.dumps(row, ensure_ascii=False) + "\n")
        self._begin = ""

    def of_task(self, task: str) -> dict[str, Reply]:
        """The answers that were asked for this task, and those of which the task is not known, by key."""
        return {key: reply for key, reply in self._replies.items() if self._task_of[key] in {task, ""}}


@dataclass(frozen=True, kw_only=True)
class TaskAnswers:
    """The recordings, as the models of one task see them."""

    recordings: Recordings
    task: str

    def get(self, key: str) -> Reply | None:
        return self.recordings.get(key)

    def put(self, key: str, reply: Reply) -> None:
        self.recordings.put(key, reply, task=self.task)


def request_key(model: str, request: ChatRequest | InfillRequest) -> str:
    """The key of a request: a hash of the model, the prompt and the sampling, but not of the role."""
    fields = key_fields(request)
    if not request.temperature:
        del fields["seed"]
    # Files on disk have keys made with these names of the two kinds of request, so they never change.
    kind = "Hole" if isinstance(request, InfillRequest) else "Completion"
    text = json.dumps([model, kind, fields], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(kw_only=True)
class Meter:
    """Counts the requests of one run: `calls`, seconds really `waited`, and seconds that recordings `saved`.

    Parallel requests wait together: the seconds of a group are those of its longest request.
    """

    calls: int = 0
    hits: int = 0
    waited: float = 0.0
    saved: float = 0.0
    _group: list[float] = field(default_factory=list)
    _open: int = 0
    _started: float = 0.0

    async def skip(self, seconds: float) -> None:
        """Counts a recorded answer; all parallel requests arrive here before any of them continues."""
        self.hits += 1
        self._group.append(seconds)
        await asyncio.sleep(0)
        if self._group:
            self.saved += max(self._group)
            self._group.clear()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Measures the time in which a model is really asked."""
        if not self._open:
            self._started = monotonic()
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self.waited += monotonic() - self._started


def wrap_model(model: Model, recordings: Answers, meter: Meter, *, repeat: int = 0) -> RecordedModel:
    """`model` behind the recordings, asked only for missing answers; it does infills where `model` does."""
    return (RecordedInfiller if isinstance(model, Infiller) else RecordedModel)(model, recordings, meter, repeat)


class RecordedModel:
    """A model behind the recordings. `repeat` shifts every seed."""

    def __init__(self, model: Model, recordings: Answers, meter: Meter, repeat: int) -> None:
        self.model = model
        self._recordings = recordings
        self._meter = meter
        self._repeat = repeat
        self._asking: dict[str, asyncio.Future[None]] = {}

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def slots(self) -> int:
        return slots(self.model)

    @property
    def context(self) -> int:
        return context(self.model)

    @property
    def calls_tools(self) -> bool:
        return calls_tools(self.model)

    def count_tokens(self, text: str) -> int:
        return self.model.count_tokens(text)

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        request = self._shift_seed(request)
        return await self._answer(request, on_token, lambda: self.model.complete(request, on_token))

    async def close(self) -> None:
        """Does nothing: the model belongs to the harness, not to one run."""

    def _shift_seed(self, request: Any) -> Any:
        if not self._repeat or request.seed is None:
            return request
        return replace(request, seed=request.seed + SEED_STEP * self._repeat)

    async def _answer(
        self, request: ChatRequest | InfillRequest, on_token: Callable[[str], None], ask: Callable[[], Awaitable[Reply]]
    ) -> Reply:
        self._meter.calls += 1
        wanted_key = request_key(self.name, request)
        while wanted_key in self._asking:
            # The same request is under way; if it fails, this one asks the model itself.
            await asyncio.wait([self._asking[wanted_key]])
        if (recorded := self._recordings.get(wanted_key)) is not None:
            await self._meter.skip(recorded.usage.model_seconds)
            if recorded.text:
                on_token(recorded.text)
            return recorded
        done = self._asking[wanted_key] = asyncio.get_running_loop().create_future()
        try:
            with self._meter.waiting():
                reply = await ask()
            self._recordings.put(wanted_key, reply)
        finally:
            del self._asking[wanted_key]
            done.set_result(None)
        return reply


class RecordedInfiller(RecordedModel):
    """A recorded model that does infills too."""

    async def infill(self, request: InfillRequest, on_token: Callable[[str], None]) -> Reply:
        model, shifted = self.model, self._shift_seed(request)
        assert isinstance(model, Infiller)
        return await self._answer(shifted, on_token, lambda: model.infill(shifted, on_token))


class Reference:
    """Answers every request with the solution of one task."""

    def __init__(self, task: Task) -> None:
        self._text = f"```python\n{_solution_source(task)}\n```\n"

    @property
    def name(self) -> str:
        return REFERENCE

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        on_token(self._text)
        usage = Usage(prompt_tokens=estimate_messages(request.messages), completion_tokens=estimate_tokens(self._text))
        return Reply(text=self._text, usage=usage, model=REFERENCE)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        """Does nothing."""


def _solution_source(task: Task) -> str:
    """The mutated function, where the task names one; else the whole first file of the solution."""
    path, _, qualname = task.function.partition("::")
    if not qualname:
        return next(iter(task.solution.values()), "")
    node: ast.AST = parse_module_strictly(task.solution[path])
    for name in qualname.split("."):
        node = next(
            each
            for each in ast.walk(node)
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and each.name == name
        )
    return ast.unparse(node)
