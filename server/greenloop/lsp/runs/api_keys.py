"""API keys kept by the client, requested for one run only. They are never written or logged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from greenloop.lsp.connection.client import PERSON, Client, with_timeout
from greenloop.lsp.connection.messages import KEY
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import Run


class ApiKeys:
    """The keys of one run; each is requested once, and the user has time to find it."""

    def __init__(self, client: Client, runs: Runs, run: Run) -> None:
        self._client, self._runs, self._run = client, runs, run
        self._keys: dict[str, str | None] = {}
        self._lock = asyncio.Lock()

    async def __call__(self, provider: str, variable: str) -> str | None:
        async with self._lock:
            if variable not in self._keys:
                self._keys[variable] = await self._request(provider, variable)
            return self._keys[variable]

    async def _request(self, provider: str, variable: str) -> str | None:
        earlier_status = self._run.progress.status
        self._runs.set_status(self._run, f"waiting for the API key of {provider}")
        request = asyncio.ensure_future(self._client.request(KEY, {"provider": provider, "variable": variable}))
        try:
            reply = await with_timeout(request, PERSON, "for a key")
        finally:
            # The user need not look for a key that is no longer needed.
            request.cancel()
            self._runs.set_status(self._run, earlier_status)
        key = reply.get("key") if isinstance(reply, Mapping) else None
        return key.strip() or None if isinstance(key, str) else None
