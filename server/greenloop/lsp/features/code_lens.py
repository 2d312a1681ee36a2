"""Code lenses above tests and functions: run, refine or cancel, apply, and the last result.

They use the server's own commands, so that no editor needs an extension for them, and are sent complete, without
resolve. A large file has a thousand after every keystroke, so they are built as plain JSON values.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.core.records.spec import TargetKind
from greenloop.lsp.documents import locations
from greenloop.lsp.editor import Editor
from greenloop.lsp.parts import Parts
from greenloop.lsp.presenters.lens_titles import lenses_of

# Seconds from a change to the refresh request to the editor, and at least between two such requests.
INTERVAL = 0.2


def register(server: LanguageServer, parts: Parts) -> None:
    runs, results, refresher = parts.runs, parts.results, LensRefresher(parts.editor)
    results.on_changed = parts.settings.on_changed = refresher.schedule
    runs.on_list_changed.append(refresher.schedule)
    documents, settings = parts.documents, parts.settings
    # The lenses are plain values already; converting them value by value takes ten times as long as making them.
    server.protocol._converter.register_unstructure_hook(  # noqa: SLF001 - pygls has no other door to it
        lsp.CodeLensResponse, lambda reply: {"id": reply.id, "jsonrpc": reply.jsonrpc, "result": reply.result}
    )

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))
    def code_lens(params: lsp.CodeLensParams) -> list[Any]:
        uri = params.text_document.uri
        file = locations.locate_for_display(documents, uri)
        refresher.were_requested = True
        if file is None or locations.is_stored_tests(file) or not settings.current(file.root).editor.lens:
            return []
        return list(lenses(uri, file))

    def lenses(uri: str, file: locations.ProjectFile) -> Iterator[dict[str, Any]]:
        runs_by_name = runs.by_name(file.root)
        row_count = len(documents.get_text_document(uri).lines)
        for heading in locations.headings(file):
            row = heading.line - 1 - file.lines_before
            path = heading.selector.partition("::")[0]
            run = runs_by_name.get((path, heading.qualname))
            is_shown = heading.kind is TargetKind.TEST or heading.examples or run is not None
            is_shown = is_shown or results.is_reached(file.root, file.path, heading.qualname)
            if not 0 <= row < row_count or not is_shown:
                continue
            start = {"line": row, "character": 0}
            # A result from before the end of a run is older than the run's own.
            result = results.get(file.root, path, heading.qualname, run.ended_at if run is not None else 0.0)
            for title, command, argument in lenses_of(heading, run, result):
                if command not in server.protocol.fm.commands:  # of a plugin that is not installed
                    continue
                yield {
                    "range": {"start": start, "end": start},
                    "command": {"title": title, "command": command, "arguments": [{"uri": uri, **argument}]},
                }


class LensRefresher:
    """Requests a refresh of changed lenses: soon, not too often, and only if the editor ever requested lenses."""

    def __init__(self, editor: Editor, interval: float = INTERVAL) -> None:
        self._client, self._tasks, self._interval = editor.client, editor.tasks, interval
        self._has_changed = False
        self._is_refreshing = False
        self.were_requested = False

    def schedule(self) -> None:
        """Schedules a refresh after something that lenses show has changed."""
        if not self.were_requested or not self._client.capabilities.refresh_lenses:
            return
        self._has_changed = True
        if not self._is_refreshing:
            self._is_refreshing = True
            self._tasks.spawn(self._refresh())

    async def _refresh(self) -> None:
        try:
            while self._has_changed:
                await asyncio.sleep(self._interval)
                self._has_changed = False
                await self._client.refresh_lenses()
        finally:
            self._is_refreshing = False
