"""Keeps how long each case took, on disk: the next run, also that of another process, is split by these times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from greenloop.core.records.sandbox import Execution
from greenloop.core.report.cases import case_results
from greenloop.project.settings import cache_folder
from greenloop.sandboxes import selftest_cache

MOST_CASES = 50_000


class CaseSeconds:
    """The seconds of a workspace's cases, by id. Reading and writing are blocking; neither raises."""

    def __init__(self, root: Path) -> None:
        name = hashlib.sha256(str(root).encode()).hexdigest()[:16]
        self._file = cache_folder() / "case-seconds" / f"{name}.json"
        self._known: dict[str, float] | None = None

    def read(self) -> Mapping[str, float]:
        """What is known."""
        if self._known is None:
            rows = selftest_cache.read_json(self._file)
            self._known = {
                str(case): float(seconds) for case, seconds in rows.items() if isinstance(seconds, int | float)
            }
        return self._known

    def add(self, execution: Execution) -> None:
        """Takes in the times of the cases that ended."""
        known = dict(self.read())
        for result in case_results(execution):
            if result.outcome != "missing":
                known.pop(result.id, None)  # what was measured last is kept longest
                known[result.id] = round(result.seconds, 4)
        self._known = dict(list(known.items())[-MOST_CASES:])
        selftest_cache.write(self._file, json.dumps(self._known).encode())
