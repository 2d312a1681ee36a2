"""`greenloop/runs`: sends the current state of every run to a client with its own view, rate-limited."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from greenloop.lsp.connection.messages import RUNS
from greenloop.lsp.presenters import run_rows

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Seconds between two notifications; with many runs, at least this many times the duration of sending one.
BETWEEN = 0.2
TIMES = 20


def register(server: Server) -> None:
    publisher = Teller(server)
    server.runs.changed.append(publisher.poke)
    server.refreshed.append(publisher.poke)


class Teller:
    """Publishes the state of all runs; changes between two notifications are in the next, which always comes."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._next = 0.0
        self._waiting = False

    def poke(self) -> None:
        if self._server.abilities.runs and not self._waiting:
            self._waiting = True
            self._later(max(self._next - time.monotonic(), 0.0))

    def _later(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._tell)

    def _tell(self) -> None:
        outbox = self._server.outbox
        if outbox is not None and outbox.behind:
            # A client that reads slowly gets the state after it has read the rest.
            self._later(BETWEEN)
            return
        began, self._waiting = time.monotonic(), False
        self._server.protocol.notify(RUNS, {"runs": [run_rows.run(run) for run in self._server.runs]})
        self._next = began + max(BETWEEN, TIMES * (time.monotonic() - began))
