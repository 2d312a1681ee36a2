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

from greenloop.core.ports import Sandbox, Session
from greenloop.core.records.sandbox import SandboxSpec

PAUSE = 30.0  # seconds without a run after which an idle session stops using the machine
CLOSE = 600.0  # further seconds after which it is closed


@dataclass(eq=False, kw_only=True)
class _Kept:
    place: SandboxSpec
    sandbox: Sandbox
    session: Session
    ending: asyncio.Task[None] | None = None


class Keeper:
    """Owns back ends and idle sessions: at most one idle session for each workspace.

    A caller that opens a session through the pool returns it with `release`, even when the request failed.
    """

    def __init__(self, *, pause: float = PAUSE, close: float = CLOSE) -> None:
        self._pause, self._close = pause, close
        self._back_ends: dict[object, Sandbox] = {}
        self._lent: list[_Kept] = []
        self._idle: list[_Kept] = []
        self._left: set[Path] = set()
        self._closed = False

    def back_end(self, key: object, make: Callable[[], Sandbox]) -> Sandbox:
        """The back end with this key, made once, because it remembers what it has learnt about a workspace."""
        if key not in self._back_ends:
            self._back_ends[key] = make()
        return self._back_ends[key]

    def ready(self, place: SandboxSpec) -> bool:
        """Whether an idle session with this sandbox spec is waiting."""
        return any(pooled.place == place for pooled in self._idle)

    async def open(self, sandbox: Sandbox, place: SandboxSpec) -> Session:
        """Returns the idle session with this sandbox spec, else a new one. Raises what `sandbox.open` raises."""
        self._left.discard(place.root)
        for pooled in self._idle:
            if pooled.place == place and pooled.sandbox is sandbox:
                self._idle.remove(pooled)
                await self._stop_ending(pooled)
                self._lent.append(pooled)
                return pooled.session
        session = await sandbox.open(place)
        self._lent.append(_Kept(place=place, sandbox=sandbox, session=session))
        return session

    async def release(self, session: Session) -> None:
        """Keeps the session for the next request, or closes it where the workspace already has an idle one."""
        pooled = next(pooled for pooled in self._lent if pooled.session is session)
        self._lent.remove(pooled)
        close_now = self._closed or pooled.place.root in self._left
        if close_now or any(idle.place.root == pooled.place.root for idle in self._idle):
            await session.close()
            return
        self._idle.append(pooled)
        pooled.ending = asyncio.create_task(self._ends(pooled))

    async def leave(self, root: Path) -> None:
        """Closes the idle sessions of a workspace that is no longer used, now and when they are released."""
        self._left.add(root)
        closing = [pooled for pooled in self._idle if pooled.place.root == root]
        self._idle = [pooled for pooled in self._idle if pooled not in closing]
        for pooled in closing:
            await self._stop_ending(pooled)
        await asyncio.gather(*(pooled.session.close() for pooled in closing))

    async def close(self) -> None:
        """Closes all idle sessions now, and every session released from now on."""
        self._closed = True
        idle, self._idle = self._idle, []
        for pooled in idle:
            await self._stop_ending(pooled)
        await asyncio.gather(*(pooled.session.close() for pooled in idle))

    async def _ends(self, kept: _Kept) -> None:
        await asyncio.sleep(self._pause)
        await kept.session.pause()
        await asyncio.sleep(self._close)
        if kept in self._idle:
            self._idle.remove(kept)
            await asyncio.shield(kept.session.close())

    async def _stop_ending(self, kept: _Kept) -> None:
        if kept.ending is not None:
            kept.ending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await kept.ending
            kept.ending = None
