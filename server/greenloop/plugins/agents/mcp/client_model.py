"""`model = client`: the client's own language model, by sampling without tools.

This module must not know what the answers mean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

import mcp_types as types
from mcp.shared.exceptions import MCPError

from greenloop.api.settings import Settings
from greenloop.core.errors import ModelError
from greenloop.core.records.model import ChatRequest, Reply, Usage
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.core.text.written_calls import as_plain
from greenloop.plugins.agents.mcp.context import ServiceContext

CLIENT = "client"
REMEDY = "Name another model, such as local or ollama/NAME."


class ClientModel:
    """The model of the client that called the tool. It cannot be cancelled there, nor does it stream."""

    def __init__(self, context: ServiceContext, settings: Settings) -> None:
        """Raises `ModelError` for a client that offers no model."""
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.sampling is None:
            raise ModelError("Your client offers no language model (sampling).", remedy=REMEDY)
        self._context, self._patience = context, settings.api.timeout

    @property
    def name(self) -> str:
        return CLIENT

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """The model's answer. Raises `ModelError` where there is none in time."""
        began = monotonic()
        plain = tuple(map(as_plain, request.messages))
        system = "\n\n".join(message.content for message in plain if message.role == "system")
        messages = [
            types.SamplingMessage(
                role="assistant" if message.role == "assistant" else "user",
                content=types.TextContent(type="text", text=message.content),
            )
            for message in plain
            if message.role != "system"
        ]
        try:
            async with asyncio.timeout(self._patience):
                result = await self._context.session.create_message(
                    messages,
                    max_tokens=request.max_tokens,
                    system_prompt=system or None,
                    temperature=request.temperature,
                    stop_sequences=list(request.stop) or None,
                    related_request_id=self._context.request_id,
                )
        except TimeoutError:
            raise ModelError(
                f"Your client's language model did not respond for {self._patience:g} seconds.", remedy=REMEDY
            ) from None
        except MCPError as error:
            raise ModelError(f"Your client's language model does not answer: {error}", remedy=REMEDY) from error
        text = result.content.text if isinstance(result.content, types.TextContent) else ""
        for stop in request.stop:
            text = text.partition(stop)[0]
        on_token(text)
        usage = Usage(
            prompt_tokens=estimate_messages(request.messages),
            completion_tokens=estimate_tokens(text),
            cost=None,
            model_seconds=monotonic() - began,
        )
        finish = "length" if result.stop_reason == "maxTokens" else "stop"
        return Reply(text=text, usage=usage, model=result.model or CLIENT, finish=finish)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        """Does nothing: the connection stays open."""
