"""`greenloop/runs`: every run as it stands now, to a client that shows them by itself; soon, and not too often."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from greenloop.lsp.presenters import rows
from greenloop.lsp.protocol import RUNS

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Seconds between two notifications; where there are so many runs that telling them takes long, so many times as long.
BETWEEN = 0.2
TIMES = 20


def register(server: Server) -> None:
    teller = Teller(server)
    server.runs.changed.append(teller.poke)
    server.refreshed.append(teller.poke)


class Teller:
    """Whatever happens between two notifications is in the next one; the last state is always told."""

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
            # A client that reads slowly gets what is true when it has read the rest.
            self._later(BETWEEN)
            return
        began, self._waiting = time.monotonic(), False
        self._server.protocol.notify(RUNS, {"runs": [rows.run(run) for run in self._server.runs]})
        self._next = began + max(BETWEEN, TIMES * (time.monotonic() - began))
