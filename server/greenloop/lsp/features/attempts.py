"""Attempts of a run: shown in the files, opened as a page, compared with the current text.

Also sent to a client that shows them in its own view.
"""

from __future__ import annotations

import asyncio
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.connection.messages import ATTEMPT, CHANGES, REPORT, AttemptParams, attempt_params, command_argument
from greenloop.lsp.parts import Parts
from greenloop.lsp.presenters.pages import Pages
from greenloop.lsp.runs.requests import run_filter
from greenloop.lsp.state import attempt_texts
from greenloop.lsp.state.run import Run

NONE = "There are no attempts here."


def register(server: LanguageServer, parts: Parts) -> None:
    runs, run_diagnostics = parts.runs, parts.run_diagnostics
    client, documents, tasks, pages = parts.client, parts.documents, parts.tasks, Pages(parts.editor)

    def runs_with_attempts(arguments: tuple[Any, ...]) -> list[Run]:
        is_meant = run_filter(documents, runs, arguments)
        return [run for run in runs if is_meant(run) and run.attempts]

    @server.command("greenloop.showAttempts")
    def show_attempts(*arguments: Any) -> None:
        if chosen := runs_with_attempts(arguments):
            tasks.spawn(pages.open_attempts(chosen))
        else:
            client.show_message(NONE)

    @server.command("greenloop.showAttempt")
    def show_attempt(*arguments: Any) -> int | None:
        params = attempt_params(command_argument(arguments))
        chosen = runs_with_attempts(arguments)
        if not chosen:
            client.show_message(NONE)
            return None
        run, number = chosen[0], _number(chosen[0], params)
        run.view.chosen_attempt = number
        run_diagnostics.publish(run)
        return number

    @server.command("greenloop.compare")
    def compare(*arguments: Any) -> None:
        params = attempt_params(command_argument(arguments))
        if chosen := runs_with_attempts(arguments):
            tasks.spawn(pages.open_comparison(chosen[0], _number(chosen[0], params)))
        else:
            client.show_message(NONE)

    @server.feature(ATTEMPT)
    async def attempt_files(raw: Any) -> dict[str, Any]:
        params, run = attempt_params(raw), required_runs(raw)[0]
        number = _number(run, params)
        attempt = next(attempt for attempt in run.attempts if attempt.number == number)
        texts = await attempt_texts.current_texts(documents, run, attempt)
        changed = attempt_texts.changed_documents(documents, run, texts)
        return {"files": [{"uri": uri, "text": text} for uri, text in changed]}

    @server.feature(CHANGES)
    async def changes_of(raw: Any) -> dict[str, Any]:
        run, rows = required_runs(raw)[0], []
        for path, (before, after) in run.result.applied_texts.items() if run.result.applied else ():
            current = documents.text(run.root / path) or ""
            changed = await asyncio.to_thread(attempt_texts.changed_lines, before, after, current)
            for start, count, replaced in changed:
                location = documents.location(run.root / path, line_range(start + 1))
                row = location.range.start.line
                rows.append({"uri": location.uri, "start": row, "end": row + count, "before": replaced})
        return {"changes": rows}

    @server.feature(REPORT)
    async def report(raw: Any) -> dict[str, Any]:
        return {"markdown": await pages.attempts(required_runs(raw))}

    def required_runs(raw: Any) -> list[Run]:
        if chosen := runs_with_attempts((raw,)):
            return chosen
        raise JsonRpcInvalidParams(NONE)


def _number(run: Run, params: AttemptParams) -> int:
    """The requested attempt's number; `next` and `previous` stop at the ends. Raises `JsonRpcInvalidParams`."""
    numbers, shown = [attempt.number for attempt in run.attempts], run.shown_attempt
    if isinstance(params.attempt, int):
        if params.attempt not in numbers:
            raise JsonRpcInvalidParams(f"There is no attempt {params.attempt}; there are 0 to {numbers[-1]}.")
        return params.attempt
    position = numbers.index(shown.number) if shown is not None else len(numbers) - 1
    step = {"next": 1, "previous": -1}[params.attempt]
    return numbers[min(max(position + step, 0), len(numbers) - 1)]
