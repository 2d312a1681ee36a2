"""The result of lab/benchmarks/parity.py: one row for a project, as a Markdown table."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

MAX_DIFFERING_SHARE = 0.01  # share of a project's ids that may differ


@dataclass(kw_only=True)
class Row:
    """The result of a project. `differing`: id -> (outcome on the host, in the sandbox, named cause or "")."""

    name: str
    version: str
    kind: str
    date: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d}")
    ids: int = 0
    flaky: int = 0
    differing: dict[str, Sequence[str]] = field(default_factory=dict)
    host: float = 0.0
    sandbox: float = 0.0
    problem: str = ""

    @property
    def good(self) -> bool:
        named = all(cause for _host, _sandbox, cause in self.differing.values())
        return not self.problem and named and len(self.differing) <= MAX_DIFFERING_SHARE * self.ids


def table(rows: list[Row]) -> str:
    names = [
        "project",
        "kind",
        "tests",
        "same",
        "differing",
        "named cause",
        "seconds host / sandbox",
    ]
    lines = ["| " + " | ".join(names) + " |", "|---|---|---:|---:|---:|---|---:|"]
    for row in rows:
        causes: dict[str, int] = {}
        for _one, _other, cause in row.differing.values():
            causes[cause or "none found"] = causes.get(cause or "none found", 0) + 1
        named = "; ".join(f"{cause} ({count})" for cause, count in sorted(causes.items()))
        if row.flaky:
            named = "; ".join(filter(None, (named, f"flaky on the host, left out ({row.flaky})")))
        if row.problem:
            named = " ".join(row.problem.split())[:200]
        same = row.ids - len(row.differing) - row.flaky
        cells = [f"{row.name} {row.version}", row.kind, f"{row.ids:,}", f"{same:,}"]
        cells += [str(len(row.differing)), named, f"{row.host:.1f} / {row.sandbox:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(rows: list[Row]) -> str:
    ids, differing = sum(row.ids for row in rows), sum(len(row.differing) for row in rows)
    who = "root" if os.getuid() == 0 else "an ordinary user"
    python = ".".join(map(str, sys.version_info[:3]))
    good, last = sum(row.good for row in rows), max(row.date for row in rows)
    return (
        f"{last}, {platform.machine()}, {os.cpu_count()} cores, Python {python}, run by {who}: "
        f"{len(rows)} projects, {ids:,} tests, {differing} differ, {good} projects within 1 %."
    )


def update_document(file: Path, name: str, rows: list[Row]) -> None:
    """Replaces the text between the two marks of this name in the file."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _begin, rest = file.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    file.write_text(f"{before}{begin}\n{summary(rows)}\n\n{table(rows)}\n{end}{after}", encoding="utf-8")
