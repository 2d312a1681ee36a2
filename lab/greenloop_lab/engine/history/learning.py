"""Exports runs as rows that others can learn from: chooses runs and rows, and takes the machine out of them.

It must not know where the rows are written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.core import registry
from greenloop.core.errors import UsageError
from greenloop.core.text.json_codec import to_json
from greenloop.core.text.redact import cleaner
from greenloop.project import workspace
from greenloop_lab.engine.history import diverse
from greenloop_lab.engine.history.formats._row import Row
from greenloop_lab.engine.history.trajectories import Trajectory

PART = "export"
PAIRS, NEGATIVES = "pairs", "negatives"
DIGITS = 8  # of the hash that tells workspaces apart
SAME = {"kind", "version", "source", "run", "project", "target", "model", "preset"}  # says nothing of likeness


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Scope of an export: the format, only fully verified runs, only hard negatives, and a number of diverse rows."""

    kind: str
    verified: bool = False
    hard: bool = False
    count: int | None = None

    @property
    def row(self) -> type[Row]:
        """The record of the rows."""
        row: type[Row] = registry.load_part(PART, self.kind).ROW
        return row


def read_wanted(kind: str | None, *, verified: bool, hard: bool, select: str | None, count: int | None) -> Wanted:
    """Checks what was asked for. Raises `UsageError` for a format or a combination that does not exist."""
    kinds = registry.list_parts(PART)
    if kind is None and hard:
        kind = NEGATIVES
    if kind is None or kind not in kinds:
        sentence = "No format was named." if kind is None else f"There is no format '{kind}'."
        raise UsageError(sentence, remedy=f"Choose one with --as: {', '.join(kinds)}.")
    if hard and kind not in (PAIRS, NEGATIVES):
        raise UsageError(
            f"The format {kind} has no hard negatives.",
            remedy="Use --as pairs with --hard-negatives, or leave out --as.",
        )
    if (select is None) is not (count is None):
        given, missing = ("-n N", "--select diverse") if select is None else (f"--select {select}", "-n N")
        raise UsageError(f"{given} needs {missing}.", remedy="Use both: --select diverse -n 100.")
    if count is not None and count < 1:
        raise UsageError("-n must be at least 1.", remedy="Use for example -n 100.")
    return Wanted(kind=kind, verified=verified, hard=hard, count=count)


@dataclass(frozen=True, kw_only=True)
class Export:
    """The rows of some runs. `runs` begins anew with each call, and only one run is in memory at a time."""

    runs: Callable[[], Iterable[Trajectory]]
    wanted: Wanted
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yields the rows as JSON values, in the order of the runs."""
        if self.wanted.count is None:
            yield from (row for _key, row in self._all())
            return
        # Only keys, classes and signatures are kept; the selected rows are made a second time.
        features = ((key, row["error_class"], diverse.signature(_texts(row))) for key, row in self._all())
        selected = diverse.select(features, self.wanted.count)
        yield from (row for key, row in self._all() if key in selected)

    def _all(self) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
        make = registry.load_part(PART, self.wanted.kind).rows
        cleaners: dict[str, Callable[[object], object]] = {}
        for run in self.runs():
            if self.wanted.verified and not run.is_verified:
                continue
            if run.root not in cleaners:
                root = Path(run.root or os.devnull)
                cleaners[run.root] = cleaner(root, workspace.find_secrets(root, self.environ))
            kept = (row for row in make(run) if not self.wanted.hard or self.wanted.kind != PAIRS or row.is_hard)
            for number, row in enumerate(kept):
                yield (run.id, number), _finish(row, run, cleaners[run.root])


def _finish(row: Row, run: Trajectory, clean: Callable[[object], object]) -> dict[str, Any]:
    project = hashlib.sha256(run.root.encode("utf-8", "replace")).hexdigest()[:DIGITS] if row.project else ""
    value = clean(to_json(row))
    assert isinstance(value, dict)
    return {**value, "project": project}


def _texts(row: Mapping[str, Any]) -> Iterator[str]:
    yield from diverse.texts_of({name: value for name, value in row.items() if name not in SAME})
