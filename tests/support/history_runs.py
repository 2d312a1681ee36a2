"""Runs in a history."""

from __future__ import annotations

from pathlib import Path

from greenloop.engine.history.store import History

ROOT = Path("/somewhere/a project")


def open_history(path: Path, warnings: list[str] | None = None, keep: int = 1000) -> History:
    return History.open(path / "history.sqlite3", keep=keep, warn=(warnings if warnings is not None else []).append)


def begin_run(history: History, root: Path = ROOT) -> int:
    run = history.start_run(root, "test_m.py::test_f", preset="plain", model="scripted:a", sandbox="bubblewrap")
    assert run is not None
    return run
