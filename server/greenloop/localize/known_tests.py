"""The port of what earlier runs have shown of tests: which functions each one reached, and how long it took.

An entry point of the group `greenloop.known_tests` names a class like `KnownTests`, with `read(place, buffers)`, which
may block. Without one, every run finds it out again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from greenloop.core import entry_points
from greenloop.core.reach import Reach
from greenloop_sandbox import CaseResult, SandboxSpec


class KnownTests(Protocol):
    """Records of the tests of one workspace, by case id: the duration of each, and its trace."""

    seconds: dict[str, float]
    traces: dict[str, dict[str, Any]]

    def add_to(self, reach: Reach, results: dict[str, CaseResult], files: Iterable[str]) -> None:
        """Adds the tests of these files that passed and whose trace still counts, except those that are known."""

    def choose(self, files: Iterable[str], results: Collection[str], most: float) -> tuple[list[str], list[str]]:
        """Returns selectors of the tests of these files that have no result, and those that take longer than `most`."""

    def keep(
        self, results: Mapping[str, CaseResult], others: Iterable[str], reach: Reach, seconds: Mapping[str, float]
    ) -> None:
        """Stores what a run has shown of these tests, and that the files have `others`. Blocking."""


def read_known_tests(place: SandboxSpec, buffers: Mapping[str, bytes]) -> KnownTests | None:
    """Reads what counts now; None where no plugin remembers it. Blocking."""
    plugin = next(iter(entry_points.load_all(entry_points.KNOWN_TESTS)), None)
    known: KnownTests | None = plugin.read(place, buffers) if plugin else None
    return known
