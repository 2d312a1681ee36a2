"""Number of requests that a server answers at the same time: llama.cpp's server names it in `/props`.

It must not know which model is asked for, nor what the number is used for.
"""

from __future__ import annotations

import asyncio

import httpx

SECONDS = 2.0  # until a server counts as one that does not say


class ServedSlots:
    """Owns the one question; `number` is 0 until the server has said it, and where it never does."""

    def __init__(self) -> None:
        self.number = 0
        self._asking: asyncio.Task[None] | None = None

    def ask(self, base: str, key: str = "") -> None:
        """Asks the server with this base URL in the background, the first time that this is called."""
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask(base, key))

    async def close(self) -> None:
        """Withdraws a question that is under way."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _ask(self, base: str, key: str) -> None:
        url = base.rstrip("/").removesuffix("/v1") + "/props"
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            async with httpx.AsyncClient(timeout=SECONDS) as client:
                properties = (await client.get(url, headers=headers)).raise_for_status().json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError):
            return
        slots = properties.get("total_slots") if isinstance(properties, dict) else None
        self.number = slots if isinstance(slots, int) and slots > 0 else 0
