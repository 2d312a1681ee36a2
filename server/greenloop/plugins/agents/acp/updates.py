"""Tells the client what happens in a turn, in order and without waiting for it, and asks its user."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

import acp
from acp.interfaces import Client
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from greenloop.core.text.redact import clean_for_display

PERSON = 600.0  # seconds for an answer of a user
SOON = 30.0  # seconds for an answer of the client itself

log = logging.getLogger(__name__)
T = TypeVar("T")


async def with_timeout(request: Awaitable[T], seconds: float) -> T | None:
    """The client's reply, or None where it is an error, cannot be read or does not come in time."""
    try:
        async with asyncio.timeout(seconds):
            return await request
    except (TimeoutError, acp.RequestError, ConnectionError, ValueError) as error:
        log.info("The client did not answer a request: %s", type(error).__name__)
        return None


class Updates:
    """The updates of one turn, to be used as a context; at its end all of them are sent."""

    def __init__(self, client: Client, session_id: str, seconds: float = PERSON) -> None:
        self._client, self._session_id, self._seconds = client, session_id, seconds
        self._waiting: asyncio.Queue[Any] = asyncio.Queue()
        self._sending: asyncio.Task[None] | None = None
        self._calls = 0

    async def __aenter__(self) -> Self:
        self._sending = asyncio.create_task(self._send())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._sending is not None
        try:
            await self.flush()
        finally:
            self._sending.cancel()

    def say(self, text: str) -> None:
        """Adds to the answer of the turn."""
        self.put(acp.update_agent_message_text(clean_for_display(text)))

    def put(self, update: Any) -> None:
        self._waiting.put_nowait(update)

    def start(self, title: str, **fields: Any) -> str:
        """Shows a new tool call; returns its id, which no other call of the turn has."""
        self._calls += 1
        call = f"{id(self):x}-{self._calls}"
        self.put(acp.start_tool_call(call, clean_for_display(title), **fields))
        return call

    def change(self, call: str, text: str = "", **fields: Any) -> None:
        """Changes a tool call; `text` replaces its content."""
        if text:
            fields["content"] = [acp.tool_content(acp.text_block(clean_for_display(text)))]
        self.put(acp.update_tool_call(call, **fields))

    async def flush(self) -> None:
        await self._waiting.join()

    async def choose(self, call: str, options: Sequence[PermissionOption], **fields: Any) -> str | None:
        """The id of the option that the user chose about a tool call; None without an answer in time.

        `fields` are those of the call: some clients ask about what they are shown here alone.
        """
        await self.flush()
        asked = self._client.request_permission(
            session_id=self._session_id, tool_call=ToolCallUpdate(tool_call_id=call, **fields), options=list(options)
        )
        reply = await with_timeout(asked, self._seconds)
        return reply.outcome.option_id if reply is not None and isinstance(reply.outcome, AllowedOutcome) else None

    async def _send(self) -> None:
        while True:
            update = await self._waiting.get()
            try:
                with suppress(ConnectionError):
                    await self._client.session_update(self._session_id, update)
            finally:
                self._waiting.task_done()
