"""The user's cache folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

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
