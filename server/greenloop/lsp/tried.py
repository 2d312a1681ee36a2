"""What an attempt has, in the user's texts as they are now; it must not know how that is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenloop.core.celled import named
from greenloop.core.diff import merge
from greenloop.core.nouns import Attempt
from greenloop.lsp import cells
from greenloop.lsp.books import cell_changes
from greenloop.lsp.edits import as_in, plain, text_of

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A file that an attempt changes: the text now, and the one with the change in it.

    `clashes`: what was typed since stands in the same lines, so that the attempt's text is there as it was tried.
    """

    now: str | None
    text: str
    clashes: bool = False


async def texts(server: Server, run: Run, attempt: Attempt) -> dict[str, Tried]:
    """By workspace path; nothing where it has no code. Of attempt 0 the texts that the run began with."""
    before, after = await asyncio.to_thread(_tried, run, attempt)
    now = {path: text_of(server, run.root / path) for path in after}
    return await asyncio.to_thread(lambda: {path: _put_in(before.get(path), after[path], now[path]) for path in after})


def documents(server: Server, run: Run, found: Mapping[str, Tried]) -> Iterator[tuple[str, str]]:
    """URI and text of each document; of a notebook, of each cell that changes."""
    for path, tried in found.items():
        notebook = server.documents.notebook(run.root / path, run.root)
        if notebook is None:
            yield server.documents.uri(run.root / path), tried.text
            continue
        uris = [uri for uri, _first in server.documents.parts(run.root / path)]
        for number, _before, text in cell_changes(notebook, tried.now or "", tried.text) or ():
            yield uris[number], text


def _tried(run: Run, attempt: Attempt) -> tuple[dict[str, str | None], dict[str, str]]:
    """Texts by path, as they were when the run began and as the attempt has them. The user's own code is both."""
    if run.outcome is not None and run.changes:
        # More than the attempt itself, where tests were written down.
        before = {path: run.outcome.before.get(path) for path in run.changes}
        if not attempt.number:
            return {}, {path: text or "" for path, text in before.items()}
        if run.outcome.best == attempt.number:
            return before, run.changes
    if run.started is not None and not attempt.number:
        problem = run.started.problem
        own = {region.path: problem.originals.get(region.path) for region in problem.regions}
        return {}, {path: text for path, text in own.items() if text is not None}
    return changed(run, attempt)


def changed(run: Run, attempt: Attempt) -> tuple[dict[str, str | None], dict[str, str]]:
    """What an attempt changes in the texts that the run began with: these by path, and its own. Nothing without code.

    Of a notebook's module it is the grid of all cells, and nothing where one change spans several of them.
    """
    from greenloop.core.compose import before_after  # noqa: PLC0415 - only runs need it, not the start

    if run.started is None or attempt.candidate is None:
        return {}, {}
    before, after = before_after(run.started.problem, attempt.candidate)
    if run.prepared is not None and (ran := after.pop(run.prepared.notebook.module, None)) is not None:
        notebook, found = run.prepared.notebook, cells.attempted(run.prepared, ran)
        if found is not None and found.text != notebook.text:
            before[notebook.module], after[notebook.module] = notebook.text, found.text
    return before, after


def spelled(run: Run, attempt: Attempt, path: str, line: int) -> str:
    """A line that an attempt ran, as people name it: of a notebook the row of a cell, as the attempt would leave it."""
    from greenloop.core.compose import compose  # noqa: PLC0415 - as above

    text = f"{path}:{line}"
    if run.prepared is None or run.started is None:
        return text
    notebook = run.prepared.notebook
    files = compose(run.started.problem, attempt.candidate) if attempt.candidate is not None else {}
    if path == notebook.module and path in files:
        notebook = cells.attempted(run.prepared, files[path]) or notebook
    return named(notebook, text)


def _put_in(before: str | None, after: str, now: str | None) -> Tried:
    merged = plain(after) if before is None else merge(plain(before), plain(after), plain(now or ""))
    text = plain(after) if merged is None else merged
    return Tried(now=now, text=as_in(now, text) if now else text, clashes=merged is None)
