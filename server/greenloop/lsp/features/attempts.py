"""The attempts of a run: stepped through in the files, as a document, compared with the text as it is now, and handed
over to a client that shows them by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from greenloop.lsp import client, meant, pages, tried
from greenloop.lsp.presenters import diagnostics
from greenloop.lsp.protocol import ATTEMPT, REPORT, AttemptParams, attempt_params

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

NONE = "No attempts are known here."


def register(server: Server) -> None:
    def known(arguments: tuple[Any, ...]) -> list[Run]:
        is_meant = meant.chosen(server, arguments)
        return [run for run in server.runs if is_meant(run) and run.attempts]

    @server.command("greenloop.showAttempts")
    def show_attempts(*arguments: Any) -> None:
        runs = known(arguments)
        if runs:
            server.runs.spawn(pages.attempts(server, runs))
        else:
            client.tell(server, NONE)

    @server.command("greenloop.showAttempt")
    def show_attempt(*arguments: Any) -> int | None:
        params = attempt_params(meant.table(arguments))
        runs = known(arguments)
        if not runs:
            client.tell(server, NONE)
            return None
        number = _number(runs[0], params)
        runs[0].stepped = number
        diagnostics.publish(server, runs[0])
        return number

    @server.command("greenloop.compare")
    def compare(*arguments: Any) -> None:
        params = attempt_params(meant.table(arguments))
        runs = known(arguments)
        if runs:
            server.runs.spawn(pages.compared(server, runs[0], _number(runs[0], params)))
        else:
            client.tell(server, NONE)

    @server.feature(ATTEMPT)
    async def files(raw: Any) -> dict[str, Any]:
        params, run = attempt_params(raw), needed(raw)[0]
        number = _number(run, params)
        attempt = next(attempt for attempt in run.attempts if attempt.number == number)
        found = tried.documents(server, run, await tried.texts(server, run, attempt))
        return {"files": [{"uri": uri, "text": text} for uri, text in found]}

    @server.feature(REPORT)
    async def report(raw: Any) -> dict[str, Any]:
        return {"markdown": await pages.report(server, needed(raw))}

    def needed(raw: Any) -> list[Run]:
        if found := known((raw,)):
            return found
        raise JsonRpcInvalidParams(NONE)


def _number(run: Run, params: AttemptParams) -> int:
    """Raises `JsonRpcInvalidParams` for an attempt that there is not; a step beyond the ends stays at the end."""
    known, shown = [attempt.number for attempt in run.attempts], run.shown
    if isinstance(params.attempt, int):
        if params.attempt not in known:
            raise JsonRpcInvalidParams(f"There is no attempt {params.attempt}; there are 0 to {known[-1]}.")
        return params.attempt
    at = known.index(shown.number) if shown is not None else len(known) - 1
    step = {"next": 1, "previous": -1}[params.attempt]
    return known[min(max(at + step, 0), len(known) - 1)]
