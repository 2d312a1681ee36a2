"""`greenloop.refineAll`: runs the tests of a file or class, then refines each that fails, a few at a time."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from greenloop.lsp import client, places
from greenloop.lsp.asked import Asked
from greenloop.lsp.features import refine, run_test
from greenloop.lsp.protocol import RefineParams
from greenloop.lsp.results import test_of

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)


def register(server: Server) -> None:
    @server.command("greenloop.refineAll")
    def refine_all(*arguments: Any) -> None:
        server.runs.spawn(_refined(server, run_test.ask(server, arguments)))


async def _refined(server: Server, asked: Asked) -> None:
    """One refinement for each failing test; they wait for one another by `editor.runs`."""
    tally = await run_test.answer(server, asked)
    if tally is None:
        return
    failing = tuple(dict.fromkeys(test_of(result.id) for result in tally.failing))
    if not failing:
        run_test.tell(server, asked, tally)
        return
    total = len({test_of(result.id) for result in tally.results})
    client.tell(server, _sentence(len(failing), total, asked.settings.editor.runs))
    with server.board.together():
        for test in failing:
            _begun(server, asked, test)
            # There may be hundreds, and somebody types.
            await asyncio.sleep(0)


def _begun(server: Server, asked: Asked, test: str) -> None:
    found = places.named(server, asked.root, test)
    uri = places.document(server, asked.root, found) if found else server.documents.uri(asked.root / asked.path)
    try:
        refine.start(server, RefineParams(uri=uri, test=test))
    except JsonRpcException as error:
        log.info("%s cannot be refined: %s", test, error)


def _sentence(failing: int, total: int, at_once: int) -> str:
    tests = f"{'test' if total == 1 else 'tests'} {'fails' if failing == 1 else 'fail'}"
    them = "it" if failing == 1 else f"them, {at_once} at a time" if failing > at_once else "them"
    return f"{failing} of {total} {tests}; refining {them}."
