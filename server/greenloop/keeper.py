"""Open sandboxes that outlive a request: warmed when somebody shows interest, paused while idle, closed later.

Runs of one session leave nothing for each other, so the next request may have the session of the one before.
It must not know what is run in them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.nouns import Place
from greenloop.core.ports import Sandbox, Session

PAUSE = 30.0  # seconds without a run after which a kept session stops using the machine
CLOSE = 600.0  # seconds after which it goes


@dataclass(eq=False, kw_only=True)
class _Kept:
    place: Place
    sandbox: Sandbox
    session: Session
    ending: asyncio.Task[None] | None = None


class Keeper:
    """Owns back ends and the sessions that nobody uses at the moment: at most one for each workspace.

    Whoever opens a session through it gives it back with `release`, also when the request failed.
    """

    def __init__(self, *, pause: float = PAUSE, close: float = CLOSE) -> None:
        self._pause, self._close = pause, close
        self._back_ends: dict[object, Sandbox] = {}
        self._lent: list[_Kept] = []
        self._idle: list[_Kept] = []
        self._left: set[Path] = set()
        self._closed = False

    def back_end(self, key: object, make: Callable[[], Sandbox]) -> Sandbox:
        """The back end of that key, made once: it remembers what it has learnt about a workspace."""
        if key not in self._back_ends:
            self._back_ends[key] = make()
        return self._back_ends[key]

    def ready(self, place: Place) -> bool:
        """Whether a session for this place waits to be used."""
        return any(kept.place == place for kept in self._idle)

    async def open(self, sandbox: Sandbox, place: Place) -> Session:
        """The session that waits for this place, else a new one. Raises what `sandbox.open` raises."""
        self._left.discard(place.root)
        for kept in self._idle:
            if kept.place == place and kept.sandbox is sandbox:
                self._idle.remove(kept)
                await self._stop_ending(kept)
                self._lent.append(kept)
                return kept.session
        session = await sandbox.open(place)
        self._lent.append(_Kept(place=place, sandbox=sandbox, session=session))
        return session

    async def release(self, session: Session) -> None:
        """Keeps the session for the next request, or closes it where another one of its workspace is kept."""
        kept = next(kept for kept in self._lent if kept.session is session)
        self._lent.remove(kept)
        left = self._closed or kept.place.root in self._left
        if left or any(other.place.root == kept.place.root for other in self._idle):
            await session.close()
            return
        self._idle.append(kept)
        kept.ending = asyncio.create_task(self._ends(kept))

    async def leave(self, root: Path) -> None:
        """Closes what waits for requests of a workspace that nobody works in any more, and what is given back of it."""
        self._left.add(root)
        left = [kept for kept in self._idle if kept.place.root == root]
        self._idle = [kept for kept in self._idle if kept not in left]
        for kept in left:
            await self._stop_ending(kept)
        await asyncio.gather(*(kept.session.close() for kept in left))

    async def close(self) -> None:
        """Closes what is idle now, and from now on whatever is given back."""
        self._closed = True
        idle, self._idle = self._idle, []
        for kept in idle:
            await self._stop_ending(kept)
        await asyncio.gather(*(kept.session.close() for kept in idle))

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
