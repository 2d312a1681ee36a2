"""Tells whether any file of a project has changed, by size and time: what tests do may depend on each of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

MOST = 50_000  # files and folders; looking at more takes longer than it saves
_CACHES = frozenset({".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__", "node_modules"})

Stamps = frozenset[tuple[str, int, int, int]]


def read_stamps(folders: Iterable[Path]) -> Stamps | None:
    """Returns what identifies the state of all files in these folders; None where there are too many.

    Caches, virtual environments and the history of version control are left out. Blocking: use a thread.
    """
    found: set[tuple[str, int, int, int]] = set()
    for stamp in (each for folder in folders for each in _walk(str(folder))):
        found.add(stamp)
        if len(found) > MOST:
            return None
    return frozenset(found)


def _walk(root: str) -> Iterator[tuple[str, int, int, int]]:
    pending = [root]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError:
            continue
        if any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _CACHES:
                    pending.append(entry.path)
                continue
            try:
                status = entry.stat()
            except OSError:
                continue
            yield entry.path, status.st_mtime_ns, status.st_size, status.st_ino
