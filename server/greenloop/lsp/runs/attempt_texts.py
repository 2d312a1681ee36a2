"""Merges an attempt's change into the user's current texts. It must not know how that is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenloop.core.records.attempt import Attempt
from greenloop.core.text.diff import merge
from greenloop.lsp.documents import notebook_requests
from greenloop.lsp.documents.notebooks import cell_changes
from greenloop.lsp.runs.apply_edit import as_in, plain, text_of
from greenloop.notebook.cell_labels import label_text

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A file that an attempt changes: its current text, and the text with the change.

    `has_conflict`: the same lines were edited since, so the attempt's text is given without merging.
    """

    now: str | None
    text: str
    clashes: bool = False


async def texts(server: Server, run: Run, attempt: Attempt) -> dict[str, Tried]:
    """The texts by workspace path; empty for an attempt without code. For attempt 0 those at the run's start."""
    before, after = await asyncio.to_thread(_tried, run, attempt)
    current = {path: text_of(server, run.root / path) for path in after}
    return await asyncio.to_thread(
        lambda: {path: _put_in(before.get(path), after[path], current[path]) for path in after}
    )


def documents(server: Server, run: Run, found: Mapping[str, Tried]) -> Iterator[tuple[str, str]]:
    """URI and text of each document; for a notebook, of each changed cell."""
    for path, tried in found.items():
        notebook = server.documents.notebook(run.root / path, run.root)
        if notebook is None:
            yield server.documents.uri(run.root / path), tried.text
            continue
        uris = [uri for uri, _first in server.documents.parts(run.root / path)]
        for number, _before, text in cell_changes(notebook, tried.now or "", tried.text) or ():
            yield uris[number], text


def _tried(run: Run, attempt: Attempt) -> tuple[dict[str, str | None], dict[str, str]]:
    """Texts by path when the run began, and with the attempt. Attempt 0, the user's own code, has no earlier texts."""
    if run.outcome is not None and run.changes:
        # The outcome has more files than the attempt where tests were written.
        before = {path: run.outcome.before.get(path) for path in run.changes}
        if not attempt.number:
            return {}, {path: text or "" for path, text in before.items()}
        if run.outcome.best == attempt.number:
            return before, run.changes
    if run.started is not None and not attempt.number:
        problem = run.started.problem
        own_texts = {region.path: problem.originals.get(region.path) for region in problem.regions}
        return {}, {path: text for path, text in own_texts.items() if text is not None}
    return changed(run, attempt)


def changed(run: Run, attempt: Attempt) -> tuple[dict[str, str | None], dict[str, str]]:
    """The texts that an attempt changes, before and after it, by path. Empty for an attempt without code.

    For a notebook's module they are the grid of all cells, left out where one change spans several cells.
    """
    from greenloop.core.compose import before_after  # noqa: PLC0415 - only runs need it, not the start

    if run.started is None or attempt.candidate is None:
        return {}, {}
    before, after = before_after(run.started.problem, attempt.candidate)
    if run.prepared is not None and (attempt_module := after.pop(run.prepared.notebook.module, None)) is not None:
        notebook, attempt_notebook = run.prepared.notebook, notebook_requests.attempted(run.prepared, attempt_module)
        if attempt_notebook is not None and attempt_notebook.text != notebook.text:
            before[notebook.module], after[notebook.module] = notebook.text, attempt_notebook.text
    return before, after


def spelled(run: Run, attempt: Attempt, path: str, line: int) -> str:
    """The name of a line that an attempt ran: in a notebook, the row of a cell after the attempt."""
    from greenloop.core.compose import compose  # noqa: PLC0415 - as above

    text = f"{path}:{line}"
    if run.prepared is None or run.started is None:
        return text
    notebook = run.prepared.notebook
    files = compose(run.started.problem, attempt.candidate) if attempt.candidate is not None else {}
    if path == notebook.module and path in files:
        notebook = notebook_requests.attempted(run.prepared, files[path]) or notebook
    return label_text(notebook, text)


def _put_in(before: str | None, after: str, now: str | None) -> Tried:
    merged = plain(after) if before is None else merge(plain(before), plain(after), plain(now or ""))
    text = plain(after) if merged is None else merged
    return Tried(now=now, text=as_in(now, text) if now else text, clashes=merged is None)
