"""A pool of real sandboxes whose runs a test sees, and may answer itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from greenloop_sandbox import Execution, SandboxPool, Session, TestRun

Watch = Callable[[Session, TestRun], Awaitable[Execution]]


class WatchedPool(SandboxPool):
    """`watch(session, run)` runs in place of `session.run(run)`, in every session of its sandboxes."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def back_end(self, key: object, make: Callable[[], Any]) -> Any:
        return super().back_end(key, lambda: Watched(make(), self._watch))


class Watched:
    """A sandbox or a session."""

    def __init__(self, inner: Any, watch: Watch) -> None:
        self._inner, self._watch = inner, watch

    async def open(self, spec: Any) -> Any:
        return Watched(await self._inner.open(spec), self._watch)

    async def run(self, run: TestRun) -> Execution:
        return await self._watch(self._inner, run)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
