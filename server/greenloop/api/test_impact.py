"""Which tests a changed file affects, known from traces of earlier runs. Light: nothing of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from greenloop.project import sources
from greenloop.project.test_impact import Coverage, affected_tests, group_by_file, outline_hash


def outline_hashes(root: Path, paths: Iterable[str], buffers: Mapping[str, bytes]) -> dict[str, int]:
    """A hash of each module without the bodies of its functions; unsaved texts replace the files. Blocking."""
    return {path: outline_hash(sources.read_text(root, path, buffers) or "", path) for path in paths}
