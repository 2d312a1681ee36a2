"""Code lenses above tests and functions: run, refine or cancel, apply, and the last result.

They use the server's own commands, so that no editor needs an extension for them, and are sent complete, without
resolve. A large file has a thousand after every keystroke, so they are built as plain JSON values.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from greenloop.core.records.spec import TargetKind
from greenloop.lsp import lens_titles
from greenloop.lsp.connection import client_requests
from greenloop.lsp.documents import locations
from greenloop.lsp.features import configuration, tests
from greenloop.project import settings

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Seconds from a change to the refresh request to the editor, and at least between two such requests.
MOMENT = 0.2


def register(server: Server) -> None:
    refresher = Refresher(server)
    server.results.changed = refresher.poke
    server.runs.changed.append(refresher.poke)
    cache: dict[Path, tuple[object, bool]] = {}
    # The lenses are plain values already; converting them value by value takes ten times as long as making them.
    server.protocol._converter.register_unstructure_hook(  # noqa: SLF001 - pygls has no other door to it
        lsp.CodeLensResponse, lambda reply: {"id": reply.id, "jsonrpc": reply.jsonrpc, "result": reply.result}
    )

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))
    def code_lens(params: lsp.CodeLensParams) -> list[Any]:
        project_file = locations.of_or_none(server, params.text_document.uri)
        refresher.asked = True
        if project_file is None or tests.is_kept(project_file) or not wanted(project_file.root):
            return []
        return list(_lenses(server, params.text_document.uri, project_file))

    def wanted(root: Path) -> bool:
        """The setting `editor.lens`, cached: reading all its sources takes longer than everything else here."""
        key = (_stamp(root / "pyproject.toml"), _stamp(settings.user_file()), repr(server.given.of(root)))
        if cache.get(root, (None, False))[0] != key:
            cache[root] = (key, configuration.load(server, root).editor.lens)
        return cache[root][1]


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _lenses(server: Server, uri: str, place: locations.Place) -> Iterator[dict[str, Any]]:
    runs = server.runs.by_subject(place.root)
    rows = len(server.documents.get_text_document(uri).lines)
    results = server.results
    for heading in locations.headings(place):
        row = heading.line - 1 - place.first
        path = heading.selector.partition("::")[0]
        run = runs.get((path, heading.qualname))
        is_shown = heading.kind is TargetKind.TEST or heading.examples or run is not None
        if not 0 <= row < rows or not (is_shown or results.is_reached(place.root, place.path, heading.qualname)):
            continue
        start = {"line": row, "character": 0}
        # A result from before the end of a run is older than the run's own.
        result = results.get(place.root, path, heading.qualname, run.ended if run is not None else 0.0)
        for title, command, argument in lens_titles.above(heading, run, result):
            yield {
                "range": {"start": start, "end": start},
                "command": {"title": title, "command": command, "arguments": [{"uri": uri, **argument}]},
            }


class Refresher:
    """Requests a refresh of changed lenses: soon, not too often, and only if the editor ever requested lenses."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._changed = False
        self._under_way = False
        self.asked = False

    def poke(self) -> None:
        """Schedules a refresh after something that lenses show has changed."""
        if not self.asked or not self._server.abilities.refresh_lenses:
            return
        self._changed = True
        if not self._under_way:
            self._under_way = True
            self._server.runs.spawn(self._refresh())

    async def _refresh(self) -> None:
        try:
            while self._changed:
                await asyncio.sleep(MOMENT)
                self._changed = False
                await client_requests.refresh_lenses(self._server)
        finally:
            self._under_way = False
