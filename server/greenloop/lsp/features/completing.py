"""`greenloop/completing`: a piece of an answer of the editor's own model, for whoever asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from greenloop.lsp.protocol import COMPLETING

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.feature(COMPLETING)
    def completing(params: Any) -> None:
        # What nobody waits for any more is still on its way when a request was withdrawn.
        number, text = (params.get("id"), params.get("text")) if isinstance(params, Mapping) else (None, None)
        hear = server.completing.get(number) if isinstance(number, int) else None
        if hear is not None and isinstance(text, str):
            hear(text)
