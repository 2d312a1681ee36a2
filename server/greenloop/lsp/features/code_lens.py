"""Code lenses above tests and targets: run, refine or cancel, apply, and how it ended last.

They are the server's own commands, so that no editor needs anything of its own for them, and come whole: nothing is
resolved later. A large file has a thousand of them after every keystroke; they are made as they go over the wire.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from greenloop import settings
from greenloop.core.nouns import TargetKind
from greenloop.lsp import client, lenses, places
from greenloop.lsp.features import configuration, tests

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Seconds between something that happened and the editor being asked to look, and at least between two such requests.
MOMENT = 0.2


def register(server: Server) -> None:
    refresher = Refresher(server)
    server.results.changed = refresher.poke
    server.runs.changed.append(refresher.poke)
    known: dict[Path, tuple[object, bool]] = {}
    # What is made here is plain already; to be looked at value by value costs ten times as long as to be made.
    server.protocol._converter.register_unstructure_hook(  # noqa: SLF001 - pygls has no other door to it
        lsp.CodeLensResponse, lambda reply: {"id": reply.id, "jsonrpc": reply.jsonrpc, "result": reply.result}
    )

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))
    def code_lens(params: lsp.CodeLensParams) -> list[Any]:
        place = places.of_or_none(server, params.text_document.uri)
        refresher.asked = True
        if place is None or tests.is_kept(place) or not wanted(place.root):
            return []
        return list(_lenses(server, params.text_document.uri, place))

    def wanted(root: Path) -> bool:
        """The setting; to read all its sources takes longer than everything else here."""
        key = (_stamp(root / "pyproject.toml"), _stamp(settings.user_file()), repr(server.given.of(root)))
        if known.get(root, (None, False))[0] != key:
            known[root] = (key, configuration.load(server, root).editor.lens)
        return known[root][1]


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _lenses(server: Server, uri: str, place: places.Place) -> Iterator[dict[str, Any]]:
    runs = server.runs.by_subject(place.root)
    rows = len(server.documents.get_text_document(uri).lines)
    results = server.results
    for heading in places.headings(place):
        row = heading.line - 1 - place.first
        path = heading.selector.partition("::")[0]
        run = runs.get((path, heading.qualname))
        known = heading.kind is TargetKind.TEST or heading.examples or run is not None
        if not 0 <= row < rows or not (known or results.is_reached(place.root, place.path, heading.qualname)):
            continue
        start = {"line": row, "character": 0}
        # What was known before a run ended, that run knows better.
        result = results.get(place.root, path, heading.qualname, run.ended if run is not None else 0.0)
        for title, command, argument in lenses.above(heading, run, result):
            yield {
                "range": {"start": start, "end": start},
                "command": {"title": title, "command": command, "arguments": [{"uri": uri, **argument}]},
            }


class Refresher:
    """Tells the editor that lenses have changed: soon, not too often, and only one that ever asked for any."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._changed = False
        self._under_way = False
        self.asked = False

    def poke(self) -> None:
        """Something that lenses show is another now."""
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
                await client.refresh_lenses(self._server)
        finally:
            self._under_way = False
