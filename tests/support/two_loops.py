"""Two event loops that take turns: that of the tests, and in a thread that of the code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from inside import load_apart

apart = load_apart()
JudgeTasks, CodeTasks = apart["apart_tasks"].JudgeTasks, apart["apart_tasks"].CodeTasks


class Code(CodeTasks):
    """Runs what `make` gives for a question."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.prepare_tasks()
        self._make = make

    def start(self, _kind: str, values: Any) -> Any:
        return self._make(self, *values)

    @staticmethod
    def in_context(_context: Any, function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)


class Judge(JudgeTasks):
    """Asks a coroutine function of the code, which gets the code's side and the arguments."""

    def __init__(self, function: Callable[..., Awaitable[Any]]) -> None:
        self.prepare_tasks()
        self._variation = apart["apart_variation"].Variation("")
        self.code, self.swallowed = Code(function), []
        self._thread = ThreadPoolExecutor(1)

    def request(self, _kind: str, *values: Any, roots: Any = ()) -> Any:
        return self._thread.submit(self.code.turn, *values).result()

    def context_number(self) -> None: ...

    def note_kept(self, *_question: Any) -> None: ...

    def note_end(self, *_question: Any) -> None: ...

    async def ask(self, *values: Any) -> Any:
        return await self.request_async("run", *values)

    def note_swallowed(self, error: BaseException) -> None:
        self.swallowed.append(str(error))

    @staticmethod
    def given(_kind: str, value: Any) -> Any:
        return value

    @staticmethod
    def answer(_kind: str, values: Any) -> Any:
        return values[1]
