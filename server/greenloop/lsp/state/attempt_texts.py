"""Merges an attempt's change into the user's current texts. It must not know how that is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from greenloop.core.records.attempt import Attempt
from greenloop.core.text.diff import diff_hunks, merge, split_lines
from greenloop.lsp.documents.disk import normalize, restore_style
from greenloop.lsp.documents.open_documents import Documents

if TYPE_CHECKING:
    from greenloop.lsp.state.run import Run


@dataclass(frozen=True, kw_only=True)
class AttemptText:
    """A file that an attempt changes: its current text, and the text with the change.

    `has_conflict`: the same lines were edited since, so the attempt's text is given without merging.
    """

    current: str | None
    text: str
    has_conflict: bool = False


async def current_texts(documents: Documents, run: Run, attempt: Attempt) -> dict[str, AttemptText]:
    """The texts by workspace path; empty for an attempt without code. For attempt 0 those at the run's start."""
    before, after = await asyncio.to_thread(_before_and_after, run, attempt)
    current = {path: documents.text(run.root / path) for path in after}
    return await asyncio.to_thread(
        lambda: {path: _merge(before.get(path), after[path], current[path]) for path in after}
    )


def changed_lines(before: str, after: str, current: str) -> list[tuple[int, int, str]]:
    """An applied change in the current text: first rows (0-based), their numbers, and the texts that they replaced."""
    before, after, current = normalize(before), normalize(after), normalize(current)
    without = merge(after, before, current) or before
    rows, shift, lines = [], 0, split_lines(without)
    for hunk in diff_hunks(without, current):
        rows.append((hunk.start + shift, len(hunk.lines), "".join(lines[hunk.start : hunk.end])))
        shift += len(hunk.lines) - (hunk.end - hunk.start)
    return rows


def changed_documents(documents: Documents, run: Run, texts: Mapping[str, AttemptText]) -> Iterator[tuple[str, str]]:
    """URI and text of each document that changes."""
    for path, attempt_text in texts.items():
        composite = documents.composite(run.root / path, run.root)
        if composite is None:
            yield documents.uri_of(run.root / path), attempt_text.text
            continue
        uris = [uri for uri, _first in documents.documents_of(run.root / path)]
        for number, _before, text in composite.changes(attempt_text.current or "", attempt_text.text) or ():
            yield uris[number], text


def _before_and_after(run: Run, attempt: Attempt) -> tuple[dict[str, str | None], dict[str, str]]:
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
    return attempt_change(run, attempt)


def attempt_change(run: Run, attempt: Attempt) -> tuple[dict[str, str | None], dict[str, str]]:
    """The texts that an attempt changes, before and after it, by path. Empty for an attempt without code.

    Those of a composite file are left out where one change spans several of its documents.
    """
    from greenloop.core.compose import before_after  # noqa: PLC0415 - only runs need it, not the start

    if run.started is None or attempt.candidate is None:
        return {}, {}
    before, after = before_after(run.started.problem, attempt.candidate)
    if run.prepared is not None:
        changes = run.prepared.change_in_editor(after)
        after = {path: text for path, text in after.items() if path not in run.prepared.buffers}
        before |= {path: old for path, (old, _new) in changes.items()}
        after |= {path: new for path, (_old, new) in changes.items()}
    return before, after


def line_name(run: Run, attempt: Attempt, path: str, line: int) -> str:
    """The name of a line that an attempt ran: in a composite file, as it is after the attempt."""
    from greenloop.core.compose import compose  # noqa: PLC0415 - as above

    if run.prepared is None or run.started is None:
        return f"{path}:{line}"
    files = compose(run.started.problem, attempt.candidate) if attempt.candidate is not None else {}
    return run.prepared.line_name(path, line, files)


def _merge(before: str | None, after: str, current: str | None) -> AttemptText:
    after = normalize(after)
    merged = after if before is None else merge(normalize(before), after, normalize(current or ""))
    text = after if merged is None else merged
    return AttemptText(
        current=current, text=restore_style(current, text) if current else text, has_conflict=merged is None
    )
