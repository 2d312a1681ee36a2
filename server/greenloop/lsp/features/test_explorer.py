"""A client's test explorer: which tests there are, and a run of some of them; results are notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop import api
from greenloop.core.errors import GreenloopError
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.messages import RUN_TESTS, TESTS
from greenloop.lsp.documents import locations
from greenloop.lsp.parts import Parts
from greenloop.lsp.testing.commands import describe


def register(server: LanguageServer, parts: Parts) -> None:
    documents, scheduler, test_commands = parts.documents, parts.scheduler, parts.test_commands

    @server.feature(TESTS)
    async def list_tests(raw: Any) -> dict[str, Any]:
        uri = raw.get("uri") if isinstance(raw, Mapping) else None
        if not isinstance(uri, str):
            return {"files": [row for root in documents.roots() for row in await files_of(root)]}
        file = locations.locate_for_display(documents, uri)
        is_test_file = file is not None and file.notebook is None and locations.has_tests(file)
        return {"files": [{"uri": uri, "path": file.path, "tests": tests_of(file)}] if file and is_test_file else []}

    async def files_of(root: Path) -> list[dict[str, Any]]:
        paths = await asyncio.to_thread(api.targets.list_test_files, root)
        return [{"uri": documents.uri_of(root / path), "path": path} for path in paths]

    def tests_of(file: locations.ProjectFile) -> list[dict[str, Any]]:
        return [{"test": each.selector, "start": each.line - 1, "end": each.end} for each in locations.headings(file)]

    @server.feature(RUN_TESTS)
    async def run_tests(raw: Any) -> dict[str, Any]:
        request = test_commands.start((raw,))
        try:
            summary = await test_commands.wait(request)
        except asyncio.CancelledError:
            scheduler.withdraw(request.root, [request])
            raise
        if summary is not None:
            return {"ran": True, "text": describe(request, summary)}
        error = None if request.summary_future.cancelled() else request.summary_future.exception()
        return {"ran": False, "text": clean_for_display(error.advice) if isinstance(error, GreenloopError) else ""}
