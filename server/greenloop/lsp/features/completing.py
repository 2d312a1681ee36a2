"""`greenloop/completing`: a piece of an answer of the editor's own model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.lsp.connection.messages import COMPLETING
from greenloop.lsp.runs.editor_model import AnswerStreams


def register(server: LanguageServer, streams: AnswerStreams) -> None:
    @server.feature(COMPLETING)
    def completing(params: Any) -> None:
        number, text = (params.get("id"), params.get("text")) if isinstance(params, Mapping) else (None, None)
        if isinstance(number, int) and isinstance(text, str):
            streams.receive(number, text)
