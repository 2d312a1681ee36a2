"""Attempts of a run: shown in the files, opened as a page, compared with the current text.

Also sent to a client that shows them in its own view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from greenloop.lsp import pages
from greenloop.lsp.connection import client_requests
from greenloop.lsp.connection.messages import ATTEMPT, REPORT, AttemptParams, attempt_params
from greenloop.lsp.presenters import diagnostics
from greenloop.lsp.runs import attempt_texts, command_arguments

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

NONE = "No attempts are known here."


def register(server: Server) -> None:
    def runs_with_attempts(arguments: tuple[Any, ...]) -> list[Run]:
        is_meant = command_arguments.chosen(server, arguments)
        return [run for run in server.runs if is_meant(run) and run.attempts]

    @server.command("greenloop.showAttempts")
    def show_attempts(*arguments: Any) -> None:
        runs = runs_with_attempts(arguments)
        if runs:
            server.runs.spawn(pages.attempts(server, runs))
        else:
            client_requests.tell(server, NONE)

    @server.command("greenloop.showAttempt")
    def show_attempt(*arguments: Any) -> int | None:
        params = attempt_params(command_arguments.table(arguments))
        runs = runs_with_attempts(arguments)
        if not runs:
            client_requests.tell(server, NONE)
            return None
        number = _number(runs[0], params)
        runs[0].stepped = number
        diagnostics.publish(server, runs[0])
        return number

    @server.command("greenloop.compare")
    def compare(*arguments: Any) -> None:
        params = attempt_params(command_arguments.table(arguments))
        runs = runs_with_attempts(arguments)
        if runs:
            server.runs.spawn(pages.compared(server, runs[0], _number(runs[0], params)))
        else:
            client_requests.tell(server, NONE)

    @server.feature(ATTEMPT)
    async def files(raw: Any) -> dict[str, Any]:
        params, run = attempt_params(raw), required_runs(raw)[0]
        number = _number(run, params)
        attempt = next(attempt for attempt in run.attempts if attempt.number == number)
        texts = attempt_texts.documents(server, run, await attempt_texts.texts(server, run, attempt))
        return {"files": [{"uri": uri, "text": text} for uri, text in texts]}

    @server.feature(REPORT)
    async def report(raw: Any) -> dict[str, Any]:
        return {"markdown": await pages.report(server, required_runs(raw))}

    def required_runs(raw: Any) -> list[Run]:
        if runs := runs_with_attempts((raw,)):
            return runs
        raise JsonRpcInvalidParams(NONE)


def _number(run: Run, params: AttemptParams) -> int:
    """The requested attempt's number; `next` and `previous` stop at the ends. Raises `JsonRpcInvalidParams`."""
    numbers, shown = [attempt.number for attempt in run.attempts], run.shown
    if isinstance(params.attempt, int):
        if params.attempt not in numbers:
            raise JsonRpcInvalidParams(f"There is no attempt {params.attempt}; there are 0 to {numbers[-1]}.")
        return params.attempt
    position = numbers.index(shown.number) if shown is not None else len(numbers) - 1
    step = {"next": 1, "previous": -1}[params.attempt]
    return numbers[min(max(position + step, 0), len(numbers) - 1)]
