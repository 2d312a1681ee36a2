"""The feature that greenloop registers: the editor's own model, and the pieces of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop.api.settings import Settings
from greenloop.core.ports import Model
from greenloop.lsp.connection.messages import COMPLETING
from greenloop.lsp.parts import Parts
from greenloop.plugins.editor_models.editor_model import AnswerStreams, EditorModel, request_info


def register(server: LanguageServer, parts: Parts) -> None:
    client, streams = parts.client, AnswerStreams()

    async def prepare() -> Callable[[Settings], Model]:
        info = await request_info(client)
        return lambda settings: EditorModel(client, streams, settings, info)

    parts.models.own_model = prepare

    @server.feature(COMPLETING)
    def completing(params: Any) -> None:
        number, text = (params.get("id"), params.get("text")) if isinstance(params, Mapping) else (None, None)
        if isinstance(number, int) and isinstance(text, str):
            streams.receive(number, text)
