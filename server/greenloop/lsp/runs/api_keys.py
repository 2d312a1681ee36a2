"""API keys kept by the client, requested for one run only. They are never written or logged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from greenloop.lsp.connection import client_requests
from greenloop.lsp.connection.messages import KEY

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server


class Keys:
    """The keys of one run; each is requested once, and the user has time to find it."""

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
        run, earlier_status = self._run, self._run.now
        run.now = f"waiting for the key for {provider}"
        self._server.refresh(run)
        params = {"provider": provider, "variable": variable}
        request = asyncio.ensure_future(self._server.protocol.ask(KEY, params))
        try:
            reply = await client_requests.bounded(request, client_requests.PERSON, "for a key")
        finally:
            # The user need not look for a key that is no longer needed.
            request.cancel()
            run.now = earlier_status
            self._server.refresh(run)
        key = reply.get("key") if isinstance(reply, Mapping) else None
        return key.strip() or None if isinstance(key, str) else None
