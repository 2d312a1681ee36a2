"""Rows of a history, as `greenloop history export --as` writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from greenloop.core.records.attempt import Attempt
from greenloop.engine.history.store import History
from greenloop_lab.engine.history.learning import Export, Wanted
from greenloop_lab.engine.history.steps import stored_trajectories
from learning_runs import add_run


def export(path: Path, kind: str, *runs: list[Attempt], **wanted: Any) -> list[dict[str, Any]]:
    """The rows of runs with these attempts, from a history of their own."""
    history = History.open(path / "export.sqlite3")
    for attempts in runs:
        add_run(history, attempts)
    return rows_of(history, kind, **wanted)


def rows_of(history: History, kind: str, **wanted: Any) -> list[dict[str, Any]]:
    export = Export(runs=lambda: stored_trajectories(history), wanted=Wanted(kind=kind, **wanted), environ={})
    return list(export.rows())
