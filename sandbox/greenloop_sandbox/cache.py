"""The user's cache folder, and the files in it."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

APP = "greenloop"


def cache_folder() -> Path:
    """The user's cache folder, made on first use if it can be made.

    Otherwise reading finds nothing in it, and writing raises `OSError`.
    """
    path = Path(os.environ.get("XDG_CACHE_HOME") or platformdirs.user_cache_dir()) / APP
    with suppress(OSError):
        path.mkdir(parents=True, exist_ok=True)
    return path


def read_json(file: Path) -> dict[str, Any]:
    """The object in a file of the cache; empty where there is none."""
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def write(file: Path, data: bytes) -> None:
    """Writes a file of the cache, renamed into place, so that no process reads a partial one; where it can."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as stream:
            stream.write(data)
        Path(stream.name).replace(file)


def keep_newest(folder: Path, count: int) -> None:
    """Removes all but the newest files of a folder."""
    found = []
    for file in folder.iterdir():
        with suppress(OSError):
            found.append((file.stat().st_mtime, file))
    for _modified, old in sorted(found, reverse=True)[count:]:
        old.unlink(missing_ok=True)
