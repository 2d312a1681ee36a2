"""`greenloop.refineAll`: runs the tests of a file or class, then refines each failing one."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from greenloop.lsp.connection import client_requests
from greenloop.lsp.connection.messages import RefineParams
from greenloop.lsp.documents import locations
from greenloop.lsp.features import refine, run_test
from greenloop.lsp.testing.requests import Asked
from greenloop.lsp.testing.results import test_of

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


def register(server: Server) -> None:
    @server.command("greenloop.refineAll")
    def refine_all(*arguments: Any) -> None:
        server.runs.spawn(_refined(server, run_test.ask(server, arguments)))


async def _refined(server: Server, asked: Asked) -> None:
    """Starts a refinement for each failing test; at most `editor.runs` of them work at once."""
    summary = await run_test.answer(server, asked)
    if summary is None:
        return
    failing = tuple(dict.fromkeys(test_of(result.id) for result in summary.failing))
    if not failing:
        run_test.tell(server, asked, summary)
        return
    test_count = len({test_of(result.id) for result in summary.results})
    client_requests.tell(server, _sentence(len(failing), test_count, asked.settings.editor.runs))
    with server.board.together():
        for test in failing:
            _begun(server, asked, test)
            # There may be hundreds, while the user types.
            await asyncio.sleep(0)


def _begun(server: Server, asked: Asked, test: str) -> None:
    target = locations.named(server, asked.root, test)
    uri = locations.document(server, asked.root, target) if target else server.documents.uri(asked.root / asked.path)
    try:
        refine.start(server, RefineParams(uri=uri, test=test))
    except JsonRpcException as error:
        log.info("%s cannot be refined: %s", test, error)


def _sentence(failing: int, total: int, at_once: int) -> str:
    tests = f"{'test' if total == 1 else 'tests'} {'fails' if failing == 1 else 'fail'}"
    them = "it" if failing == 1 else f"them, {at_once} at a time" if failing > at_once else "them"
    return f"{failing} of {total} {tests}; refining {them}."
