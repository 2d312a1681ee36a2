"""Two event loops that take turns: that of the tests, and in a thread that of the code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from inside import load_apart

apart = load_apart()
JudgeTasks, CodeTasks = apart["apart_turns"].JudgeTasks, apart["apart_tasks"].CodeTasks


class Code(CodeTasks):
    def __init__(self) -> None:
        self.prepare_tasks()


class Judge(JudgeTasks):
    """Asks a coroutine function of the code, which gets the code's side and the arguments."""

    def __init__(self, function: Callable[..., Awaitable[Any]]) -> None:
        self.prepare_tasks()
        self.function, self.code, self.swallowed = function, Code(), []
        self._thread = ThreadPoolExecutor(1)

    def request(self, kind: str, *values: Any, roots: Any = ()) -> Any:
        if kind == "turn":
            return self._thread.submit(self.code.turn, *values).result()
        return self._thread.submit(self.code.start, lambda _, given: self.function(self.code, *given), *values).result()

    async def ask(self, *values: Any) -> Any:
        return await self.request_async("run", *values)

    def note_swallowed(self, error: BaseException) -> None:
        self.swallowed.append(str(error))

    @staticmethod
    def given(_kind: str, value: Any) -> Any:
        return value

    @staticmethod
    def _operate(_operation: str, value: Any, _args: Any) -> Any:
        return value
