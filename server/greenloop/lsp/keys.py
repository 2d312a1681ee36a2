"""Keys that the client keeps: asked for by one run, for that run only. None is ever written or told anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from greenloop.lsp import client
from greenloop.lsp.protocol import KEY

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server


class Keys:
    """Those of one run; each is asked for once, and a person has time to look for it."""

    def __init__(self, server: Server, run: Run) -> None:
        self._server, self._run = server, run
        self._asked: dict[str, str | None] = {}
        self._lock = asyncio.Lock()

    async def __call__(self, provider: str, variable: str) -> str | None:
        async with self._lock:
            if variable not in self._asked:
                self._asked[variable] = await self._ask(provider, variable)
            return self._asked[variable]

    async def _ask(self, provider: str, variable: str) -> str | None:
        run, before = self._run, self._run.now
        run.now = f"waiting for the key for {provider}"
        self._server.refresh(run)
        params = {"provider": provider, "variable": variable}
        request = asyncio.ensure_future(self._server.protocol.ask(KEY, params))
        try:
            reply = await client.bounded(request, client.PERSON, "for a key")
        finally:
            # Whoever is not waited for any more need not look for it.
            request.cancel()
            run.now = before
            self._server.refresh(run)
        key = reply.get("key") if isinstance(reply, Mapping) else None
        return key.strip() or None if isinstance(key, str) else None
