"""Keeps how long each case took, on disk: the next run, also that of another process, is split by these times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from greenloop.project.settings import cache_folder
from greenloop_sandbox import Execution, cache, case_results

MOST_CASES = 50_000
SHORT = 1.0  # seconds of cases that are all known, below which a run teaches nothing worth writing


class CaseSeconds:
    """The seconds of a workspace's cases, by id. Reading and writing are blocking; neither raises."""

    def __init__(self, root: Path) -> None:
        name = hashlib.sha256(str(root).encode()).hexdigest()[:16]
        self._file = cache_folder() / "case-seconds" / f"{name}.json"
        self._known: dict[str, float] | None = None

    def read(self) -> Mapping[str, float]:
        """Returns the known seconds, by case id; empty without any."""
        if self._known is None:
            rows = cache.read_json(self._file)
            self._known = {
                str(case): float(seconds) for case, seconds in rows.items() if isinstance(seconds, int | float)
            }
        return self._known

    def add(self, execution: Execution) -> None:
        """Takes in the times of the cases that ended, unless they are known and short."""
        known = self.read()
        measured = {each.id: round(each.seconds, 4) for each in case_results(execution) if each.outcome != "missing"}
        if measured.keys() <= known.keys() and sum(measured.values()) < SHORT:
            return
        # What was measured last is kept longest.
        kept = {case: seconds for case, seconds in known.items() if case not in measured} | measured
        self._known = dict(list(kept.items())[-MOST_CASES:])
        cache.write(self._file, json.dumps(self._known).encode())
