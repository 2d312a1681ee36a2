"""Caches passed self-tests on disk until the machine restarts or the tested program changes.

Only successes are kept: a failed self-test may pass after the user's next command.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from greenloop_sandbox.cache import cache_folder, read_json, write

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
    details = read_json(_file(name)).get(_full_key(key))
    return details if isinstance(details, dict) else None


def remember(name: str, key: str, details: Mapping[str, Any]) -> None:
    """Keeps that the self-test passed. If the cache cannot be written, the self-test simply runs each time."""
    entries = {**read_json(_file(name)), _full_key(key): dict(details)}
    write(_file(name), json.dumps(dict(list(entries.items())[-MAX_ENTRIES:])).encode())


def _full_key(key: str) -> str:
    return f"{boot_id()}|{platform.release()}|{os.getuid() if hasattr(os, 'getuid') else ''}|{key}"


def _file(name: str) -> Path:
    return cache_folder() / f"{name}-passed.json"
