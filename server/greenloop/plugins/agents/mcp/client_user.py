"""The engine's questions about generated tests, asked of the user behind the client by elicitation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, create_model

from greenloop.core.text.redact import clean_for_display
from greenloop.plugins.agents.mcp.context import ServiceContext

PATIENCE = 120.0  # seconds that a run waits for an answer


class _Text(BaseModel):
    text: str


class McpUser:
    """A user who did not answer one question is not asked again."""

    def __init__(self, context: ServiceContext) -> None:
        capabilities = context.client_capabilities
        self._context = context
        self.can_answer = capabilities is not None and capabilities.elicitation is not None

    async def confirm(self, question: str) -> bool | None:
        answer = await self.choose(question, ("Yes", "No"))
        return None if answer is None else answer == "Yes"

    async def choose(self, question: str, options: Sequence[str]) -> str | None:
        choices: Any = Literal[tuple(options)]
        answer = await self._ask(question, create_model("Answer", answer=(choices, ...)))
        return getattr(answer, "answer", None)

    async def correct(self, question: str, text: str) -> str | None:  # noqa: ARG002 - a form has no first value
        answer = await self._ask(question, _Text)
        return getattr(answer, "text", None) or None

    async def _ask(self, question: str, form: type[BaseModel]) -> BaseModel | None:
        if not self.can_answer:
            return None
        try:
            async with asyncio.timeout(PATIENCE):
                result = await self._context.elicit(clean_for_display(question), form)
        except (TimeoutError, MCPError, ValueError):
            self.can_answer = False
            return None
        return result.data if result.action == "accept" else None
