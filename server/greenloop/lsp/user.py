"""The user behind the editor, as the engine sees him."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from greenloop.lsp import client

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


class EditorUser:
    """Asks by window/showMessageRequest; an editor that cannot ask gives no answer."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def confirm(self, question: str) -> bool | None:
        answer = await client.ask(self._server, question, ("Yes", "No"))
        return None if answer is None else answer == "Yes"

    async def choose(self, question: str, options: Sequence[str]) -> str | None:
        return await client.ask(self._server, question, options)

    async def correct(self, question: str, text: str) -> str | None:  # noqa: ARG002
        # The protocol has no way to ask for a text.
        return None
