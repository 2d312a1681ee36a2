"""The history of runs, and what became of their results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from greenloop.api import result_files
from greenloop.api.result_files import DiskFiles
from greenloop.api.settings import load_settings
from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.core.records.outcome import Outcome
from greenloop.engine.history.provenance import Basis, stored_problem
from greenloop.engine.history.rows import StoredRun
from greenloop.engine.history.store import History


def mark_applied(run: int | None, warn: Callable[[str], None] = lambda _sentence: None) -> None:
    """Records that a run's result is in the user's text. Without a number it does nothing; it never raises.

    `warn` gets a sentence if the history cannot be written. It blocks, for milliseconds.
    """
    _change(History.mark_applied, run, warn)


def discard(run: int | None, warn: Callable[[str], None] = lambda _sentence: None) -> None:
    """Records that the user discarded a run's result. The parameters are those of `mark_applied`."""
    _change(History.discard, run, warn)


def find_record(number: int) -> StoredRun | None:
    """A stored run with its attempts; None if no run has this number."""
    with History.open() as history:
        return history.run(number)


async def apply_record(
    record: StoredRun, *, outcome: Outcome | None = None, report_status: Callable[[str], None] = lambda _sentence: None
) -> list[str]:
    """Writes the result of a stored run, marks it as applied, and returns the paths.

    A file that has changed since is merged, and the run's tests run again over the merged texts. `outcome` replaces the
    run's own if its texts are not files (a notebook); a file that has changed is then refused.
    Raises `UsageError` for a run without a result, `WorkspaceError` if its folder is gone, the changes overlap, the
    merged texts fail, or the history lacks the run's tests.
    """
    root, stored = Path(record.root), record.outcome
    if stored is None or not stored.after:
        raise UsageError(
            f"Run {record.id} has no result to write.", remedy=f"See `greenloop history show {record.id}`."
        )
    if not await asyncio.to_thread(root.is_dir):
        raise WorkspaceError(f"The workspace {root} no longer exists.")
    is_file = outcome is None or outcome.after == stored.after
    with History.open() as history:
        basis = history.basis(record.id)

    async def passes_again(texts: dict[str, bytes]) -> bool:
        assert basis is not None
        settings, _warnings = load_settings(root)
        return await result_files.passes_again(stored_problem(root, basis, stored), texts, settings=settings)

    files = DiskFiles(root=root)
    changes = await result_files.plan_changes(
        outcome or stored,
        files,
        originals={},
        passes_again=passes_again if basis is not None and is_file and stored.solved else None,
        report_status=report_status,
    )
    await files.write(changes)
    mark_applied(record.id)
    return [change.path for change in changes]


def undo_record(record: StoredRun, outcome: Outcome | None) -> list[str]:
    """Restores the files that a run wrote, all or none, and returns the paths. `outcome` has their texts.

    Raises `UsageError` for a run that was not written, `WorkspaceError` if a file has changed since.
    """
    root = Path(record.root)
    if record.applied is None or outcome is None:
        raise UsageError(f"Run {record.id} was not written.", remedy="`greenloop history` lists the runs that were.")
    if not root.is_dir():
        raise WorkspaceError(f"The workspace {root} no longer exists.")
    paths = result_files.restore_texts(root, outcome.before, outcome.after, run=record.id)
    with History.open() as history:
        history.mark_undone(record.id)
    return paths


def _change(change: Callable[[History, int | None], None], run: int | None, warn: Callable[[str], None]) -> None:
    if run is None:
        return
    with History.open(warn=warn) as history:
        change(history, run)
