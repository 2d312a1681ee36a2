"""The file that remembers which commits were tried and what came of each, so that a stopped search continues.

One JSON line per commit. A line that was cut off by a kill is ignored, and its commit tried again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from greenloop.core.errors import UsageError
from greenloop_lab.bench.tasks import Task

FORMAT = 1
# Why a commit gives no task.
NO_TEST = "no changed test"
NO_CODE = "no changed code"
TOO_LARGE = "too much changed"
UNREADABLE = "code that cannot be parsed"
NOTHING = "only comments, docstrings or imports changed"
PASSES = "the changed tests pass on the code before"
STAYS_RED = "no test that failed before passes after"
UNSTEADY = "the tests do not end alike twice"
IMPORTS = "the changed tests cannot be imported by the code before"
SLOW = "the changed tests take too long"
ENVIRONMENT = "the environment cannot be made"
MISSING = "missing from this clone"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A commit that was tried: its task, or the reason why there is none, with a detail for people."""

    commit: str
    reason: str = ""
    detail: str = ""
    task: Task | None = None


class Records:
    """The file of one search. Commits are remembered for one interpreter: with another one they are tried again."""

    def __init__(self, path: Path | None, interpreter: str) -> None:
        """Raises `UsageError` where the file cannot be read."""
        self._path = path
        self._interpreter = interpreter
        self.tried: dict[str, Tried] = {}
        try:
            text = path.read_text(encoding="utf-8", errors="replace") if path and path.exists() else ""
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.", remedy="Name another file.") from error
        self._begin = "\n" if text and not text.endswith("\n") else ""
        for line in text.split("\n"):
            try:
                self._read(json.loads(line))
            except (ValueError, KeyError, TypeError):
                continue

    def _read(self, row: Any) -> None:
        if row["format"] != FORMAT or row["interpreter"] != self._interpreter:
            return
        task = Task(**row["task"]) if row["task"] else None
        self.tried[row["commit"]] = Tried(commit=row["commit"], reason=row["reason"], detail=row["detail"], task=task)

    def add(self, tried: Tried) -> None:
        """Remembers a commit. Raises `UsageError` where the file cannot be written."""
        self.tried[tried.commit] = tried
        if self._path is None:
            return
        row = {"format": FORMAT, "interpreter": self._interpreter, **asdict(tried)}
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(self._begin + json.dumps(row, ensure_ascii=False) + "\n")
        except OSError as error:
            raise UsageError(
                f"{self._path} cannot be written: {error.strerror}.", remedy="Name another file."
            ) from error
        self._begin = ""


def summarize(tried: Sequence[Tried], unread: int) -> list[str]:
    """Lines for people: how many commits gave a task, how many did not for which reason, and the names of those whose
    environment cannot be made. `unread`: commits that were not tried, because there were enough tasks.
    """
    reasons = Counter(each.reason for each in tried if each.reason)
    tasks = sum(each.task is not None for each in tried)
    lines = [f"{len(tried)} commits tried: {tasks} tasks"]
    lines += [f"  {count} {reason}" for reason, count in reasons.most_common()]
    lines += [f"    {each.commit[:12]}: {each.detail}" for each in tried if each.reason in (ENVIRONMENT, MISSING)]
    return [*lines, *([f"  {unread} more commits were not tried"] if unread else [])]
