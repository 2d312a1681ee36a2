"""Caches passed self-tests on disk until the machine restarts or the tested program changes.

Only successes are kept: a failed self-test may pass after the user's next command.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from greenloop.project.settings import cache_folder

MAX_ENTRIES = 20


def boot_id() -> str:
    """Identifies the machine, its boot and the pid namespace, within which process ids are comparable."""
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{started}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - the link's text is the answer
    except OSError:
        return f"{platform.node()}/{int(psutil.boot_time())}"


def recall(name: str, key: str) -> Mapping[str, Any] | None:
    """The details kept when the self-test `name` passed for this key since the machine started, or None."""
    details = _read(name).get(_full_key(key))
    return details if isinstance(details, dict) else None


def remember(name: str, key: str, details: Mapping[str, Any]) -> None:
    """Keeps that the self-test passed. If the cache cannot be written, the self-test simply runs each time."""
    with contextlib.suppress(OSError):
        entries = {**_read(name), _full_key(key): dict(details)}
        newest = dict(list(entries.items())[-MAX_ENTRIES:])
        file = _file(name)
        # Renamed into place, because other processes may read it at the same time.
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as stream:
            json.dump(newest, stream)
        Path(stream.name).replace(file)


def _full_key(key: str) -> str:
    return f"{boot_id()}|{platform.release()}|{os.getuid() if hasattr(os, 'getuid') else ''}|{key}"


def _file(name: str) -> Path:
    return cache_folder() / f"{name}-passed.json"


def _read(name: str) -> dict[str, Any]:
    try:
        entries = json.loads(_file(name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}
