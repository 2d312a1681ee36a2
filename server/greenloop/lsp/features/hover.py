"""Hover on a target, on a function that a run changes, and on its tests: the history of the attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.lsp import places
from greenloop.lsp.convert import line_range
from greenloop.lsp.documents import lowered
from greenloop.lsp.presenters import report, status

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def register(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        place = places.of_or_none(server, params.text_document.uri)
        # Without runs there is nothing to say, and nothing to parse for it.
        if place is None or not any(run.root == place.root for run in server.runs):
            return None
        line = place.line(params.position.line)
        target = places.target_at(place, line)
        if target is None or not target.start <= line <= target.name_line:
            return None
        run = server.runs.find(place.root, target.path, target.qualname)
        if run is None or not (run.attempts or run.specified or run.ahead):
            return None
        markdown = server.abilities.markdown_hover
        kind = lsp.MarkupKind.Markdown if markdown else lsp.MarkupKind.PlainText
        value = status.named(server, run, report.markdown(run) if markdown else report.plain(run))
        where = lowered(line_range(target.name_line, place.text, server.documents.position_codec), place.first)
        return lsp.Hover(contents=lsp.MarkupContent(kind=kind, value=value), range=where)
