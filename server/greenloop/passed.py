"""Self-tests that passed, remembered in the cache folder until the machine starts anew or what was tested changes.

Only success is kept: what failed may work after the next command of the user.
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

from greenloop.settings import cache_folder

KEPT = 20


def boot() -> str:
    """Where process ids mean what they mean here: not on another machine, after a restart, or in another container."""
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{started}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - the link's text is the answer
    except OSError:
        return f"{platform.node()}/{int(psutil.boot_time())}"


def recall(name: str, key: str) -> Mapping[str, Any] | None:
    """What was noted when the self-test `name` passed for this key since this start of the machine, or None."""
    found = _read(name).get(_whole(key))
    return found if isinstance(found, dict) else None


def remember(name: str, key: str, facts: Mapping[str, Any]) -> None:
    """Notes that it passed. A cache that cannot be written is a self-test each time, and no trouble."""
    with contextlib.suppress(OSError):
        notes = {**_read(name), _whole(key): dict(facts)}
        kept = dict(list(notes.items())[-KEPT:])
        file = _file(name)
        # Renamed into place, for others read it at the same time.
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as stream:
            json.dump(kept, stream)
        Path(stream.name).replace(file)


def _whole(key: str) -> str:
    return f"{boot()}|{platform.release()}|{os.getuid() if hasattr(os, 'getuid') else ''}|{key}"


def _file(name: str) -> Path:
    return cache_folder() / f"{name}-passed.json"


def _read(name: str) -> dict[str, Any]:
    try:
        found = json.loads(_file(name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
