"""Images that no project has used for long are removed; only those that greenloop made, and none that is in use."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Mapping

from greenloop.container.base import REPOSITORY as BASES
from greenloop.container.engine import MARK, Engine
from greenloop.settings import cache_folder

log = logging.getLogger(__name__)

UNUSED_DAYS = 30
DAY = 86_400.0
_LAST = "looked for unused ones"


def used(*names: str) -> None:
    """Remembers that these images are wanted now."""
    _write({**_read(), **dict.fromkeys(names, time.time())})


def daily(engine: Engine) -> list[str]:
    """Removes what has not been used for `UNUSED_DAYS`, at most once a day. Returns the names of what went.

    An image that this machine has not seen before counts as used now: it may be somebody else's on a shared engine.
    """
    known, now = _read(), time.time()
    if now - known.get(_LAST, 0.0) < DAY:
        return []
    removed: list[str] = []
    there: set[str] = set()
    with contextlib.suppress(*engine.errors):
        for image in engine.client.images.list(filters={"label": [f"{MARK}.image"]}):
            for name in (tag.removeprefix("localhost/") for tag in image.tags):  # podman's prefix
                if name.startswith(f"{BASES}:"):
                    continue  # what all others are made from, and dear to make
                there.add(name)
                if now - known.setdefault(name, now) > UNUSED_DAYS * DAY:
                    with contextlib.suppress(*engine.errors):  # one that a container has stays
                        engine.client.images.remove(name)
                        removed.append(name)
        known = {name: seen for name, seen in known.items() if name in there and name not in removed}
    _write({**known, _LAST: now})
    if removed:
        log.info("Removed %d image(s) that were not used for %d days.", len(removed), UNUSED_DAYS)
    return removed


def _read() -> dict[str, float]:
    try:
        found = json.loads((cache_folder() / "images.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, Mapping):
        return {}
    return {str(name): float(seen) for name, seen in found.items() if isinstance(seen, int | float)}


def _write(known: Mapping[str, float]) -> None:
    with contextlib.suppress(OSError):
        file = cache_folder() / "images.json"
        beside = file.with_suffix(".new")
        beside.write_text(json.dumps(known), encoding="utf-8")
        beside.replace(file)
