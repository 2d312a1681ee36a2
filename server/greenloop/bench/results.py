"""The file of results: one JSON line per attempt, and one per task-run after its attempts.

All lines of a task-run are written at once, its own last: one that a kill cut off counts as not done.
A later task-run of the same arm, task and repeat replaces an earlier one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.core.errors import UsageError

FORMAT = 1
_BEGIN = '{"format": '
Key = tuple[str, str, int]


@dataclass(frozen=True, kw_only=True)
class TaskRunResult:
    """One task-run: its own line, and those of its attempts, baseline first."""

    run: Mapping[str, Any]
    attempts: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    @property
    def key(self) -> Key:
        return self.run["arm"], self.run["task"], self.run["repeat"]


def read(paths: Iterable[Path], *, may_be_missing: bool = False) -> list[TaskRunResult]:
    """All task-runs, in the order of their first lines. `may_be_missing`: a file need not exist yet.

    Raises `UsageError` for a file with anything else, or with results of another version.
    """
    by_key: dict[Key, TaskRunResult] = {}
    for path in paths:
        if may_be_missing and not path.exists():
            continue
        attempts: dict[Key, list[Mapping[str, Any]]] = {}
        for row in _rows(path):
            key: Key = (row["arm"], row["task"], row["repeat"])
            if row["kind"] == "attempt":
                rows = attempts.setdefault(key, [])
                if row["number"] == 0:
                    rows.clear()
                rows.append(row)
            else:
                by_key[key] = TaskRunResult(run=row, attempts=tuple(attempts.pop(key, ())))
    return list(by_key.values())


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", remedy="Name a file of results.") from error
    rows = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            if line.startswith(_BEGIN) or _BEGIN.startswith(line):
                continue  # cut off by a kill
            raise _not_results(path, number) from None
        if not isinstance(row, dict) or row.get("kind") not in {"attempt", "run"}:
            raise _not_results(path, number)
        if row.get("format") != FORMAT:
            raise UsageError(
                f"Line {number} of {path} is of format {row.get('format')}; this version reads format {FORMAT}.",
                remedy="Run the experiment again, or read the results with the version that wrote them.",
            )
        rows.append(row)
    return rows


def _not_results(path: Path, number: int) -> UsageError:
    return UsageError(f"Line {number} of {path} is not a result.", remedy="Name a file that `greenloop bench` wrote.")


def append(path: Path, done: TaskRunResult) -> None:
    """Appends a task-run; it is on disk when this returns. Raises `UsageError` where it cannot be written."""
    lines = [json.dumps({"format": FORMAT, **row}, ensure_ascii=False) for row in (*done.attempts, done.run)]
    try:
        with path.open("a+b") as file:
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                if file.read(1) != b"\n":
                    file.write(b"\n")  # end the line that was cut off
            file.write(("\n".join(lines) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", remedy="Name another file.") from error
