"""Pools open sandbox sessions between requests: warmed early, paused while idle, closed later.

Runs of a session leave nothing behind, so the next request may reuse the session of the one before.
It must not know what is run in them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from greenloop_sandbox.ports import Sandbox, Session
from greenloop_sandbox.records import SandboxSpec

PAUSE_SECONDS = 30.0  # seconds without a run after which an idle session stops using the machine
CLOSE_SECONDS = 600.0  # further seconds after which it is closed
MOST_IDLE = 2  # sessions that are kept for a workspace: the run's own, and one for work in parallel


@dataclass(eq=False, kw_only=True)
class _PooledSession:
    spec: SandboxSpec
    sandbox: Sandbox
    session: Session
    closing_task: asyncio.Task[None] | None = None
    warming: asyncio.Task[None] | None = None

    async def close(self) -> None:
        if self.warming is not None:
            self.warming.cancel()
            await asyncio.gather(self.warming, return_exceptions=True)
        await self.session.close()


class SandboxPool:
    """Owns back ends and idle sessions: at most `MOST_IDLE` of them for each workspace.

    A caller that opens a session through the pool returns it with `release`, even when the request failed.
    `remembered` holds facts of callers about a workspace, as long as its sandbox may be used again.
    """

    def __init__(self, *, pause_seconds: float = PAUSE_SECONDS, close_seconds: float = CLOSE_SECONDS) -> None:
        self._pause_seconds, self._close_seconds = pause_seconds, close_seconds
        self._back_ends: dict[object, Sandbox] = {}
        self._lent: list[_PooledSession] = []
        self._idle: list[_PooledSession] = []
        self._abandoned_roots: set[Path] = set()
        self._closed = False
        self.remembered: dict[Path, object] = {}

    def back_end(self, key: object, make: Callable[[], Sandbox]) -> Sandbox:
        """The back end with this key, made once, because it remembers what it has learnt about a workspace."""
        if key not in self._back_ends:
            self._back_ends[key] = make()
        return self._back_ends[key]

    async def warm(self, spec: SandboxSpec) -> bool:
        """Warms the idle sessions with this sandbox spec, if a cancelled run took them down; False if there are none.

        They may be opened meanwhile.
        """
        waiting = [pooled for pooled in self._idle if pooled.spec == spec]
        for pooled in waiting:
            pooled.warming = pooled.warming or asyncio.create_task(self._warm(pooled))
        await asyncio.gather(*(pooled.warming for pooled in waiting if pooled.warming), return_exceptions=True)
        return bool(waiting)

    async def _warm(self, pooled: _PooledSession) -> None:
        try:
            await pooled.session.warm()
        finally:
            pooled.warming = None

    async def open(self, sandbox: Sandbox, spec: SandboxSpec) -> Session:
        """Returns the idle session with this sandbox spec, else a new one. Raises the errors of `sandbox.open`."""
        self._abandoned_roots.discard(spec.root)
        for pooled in reversed(self._idle):  # the last one has learnt most
            if pooled.spec == spec and pooled.sandbox is sandbox:
                self._idle.remove(pooled)
                await self._cancel_closing(pooled)
                self._lent.append(pooled)
                return pooled.session
        session = await sandbox.open(spec)
        self._lent.append(_PooledSession(spec=spec, sandbox=sandbox, session=session))
        return session

    async def release(self, session: Session) -> None:
        """Keeps the session for the next request, or closes it if the workspace already has enough idle ones."""
        pooled = next(pooled for pooled in self._lent if pooled.session is session)
        self._lent.remove(pooled)
        idle = [idle for idle in self._idle if idle.spec.root == pooled.spec.root]
        if self._closed or pooled.spec.root in self._abandoned_roots or len(idle) >= MOST_IDLE:
            await pooled.close()
            return
        self._idle.append(pooled)
        pooled.closing_task = asyncio.create_task(self._close_when_idle(pooled))

    async def close_workspace(self, root: Path) -> None:
        """Closes the idle sessions of a workspace that is no longer used, now and when they are released."""
        self._abandoned_roots.add(root)
        self.remembered.pop(root, None)
        closing = [pooled for pooled in self._idle if pooled.spec.root == root]
        self._idle = [pooled for pooled in self._idle if pooled not in closing]
        for pooled in closing:
            await self._cancel_closing(pooled)
        await asyncio.gather(*(pooled.close() for pooled in closing))

    async def close(self) -> None:
        """Closes all idle sessions now, and every session released from now on."""
        self._closed = True
        idle, self._idle = self._idle, []
        for pooled in idle:
            await self._cancel_closing(pooled)
        await asyncio.gather(*(pooled.close() for pooled in idle))

    async def _close_when_idle(self, pooled: _PooledSession) -> None:
        await asyncio.sleep(self._pause_seconds)
        await pooled.session.pause()
        await asyncio.sleep(self._close_seconds)
        if pooled in self._idle:
            self._idle.remove(pooled)
            self.remembered.pop(pooled.spec.root, None)
            await asyncio.shield(pooled.close())

    async def _cancel_closing(self, pooled: _PooledSession) -> None:
        if pooled.closing_task is not None:
            pooled.closing_task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await pooled.closing_task
            pooled.closing_task = None
