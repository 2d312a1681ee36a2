"""`greenloop/completing`: a piece of an answer of the editor's own model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from greenloop.lsp.connection.messages import COMPLETING

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.feature(COMPLETING)
    def completing(params: Any) -> None:
        # Pieces of a cancelled request may still arrive.
        number, text = (params.get("id"), params.get("text")) if isinstance(params, Mapping) else (None, None)
        hear = server.completing.get(number) if isinstance(number, int) else None
        if hear is not None and isinstance(text, str):
            hear(text)
