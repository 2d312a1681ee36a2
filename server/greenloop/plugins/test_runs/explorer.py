"""A client's test explorer: which tests there are, and a run of some of them; results are notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pygls.lsp.server import LanguageServer

from greenloop import api
from greenloop.core.errors import GreenloopError
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.messages import RUN_TESTS, TESTS
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.plugins.test_runs.commands import TestCommands, describe
from greenloop.plugins.test_runs.scheduler import TestScheduler


def register(
    server: LanguageServer, documents: Documents, scheduler: TestScheduler, test_commands: TestCommands
) -> None:
    @server.feature(TESTS)
    async def list_tests(raw: Any) -> dict[str, Any]:
        uri = raw.get("uri") if isinstance(raw, Mapping) else None
        if not isinstance(uri, str):
            found = [(root, await asyncio.to_thread(api.targets.list_test_files, root)) for root in documents.roots()]
            paths = ((root / path, path) for root, files in found for path in files)
            return {"files": [{"uri": documents.uri_of(absolute), "path": path} for absolute, path in paths]}
        file = locations.locate_for_display(documents, uri)
        if file is None or file.composite is not None or not locations.has_tests(file):
            return {"files": []}
        tests = [{"test": each.selector, "start": each.line - 1, "end": each.end} for each in locations.headings(file)]
        return {"files": [{"uri": uri, "path": file.path, "tests": tests}]}

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
