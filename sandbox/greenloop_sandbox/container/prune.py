"""Removes images that no project has used for long: only greenloop's own, and none that is in use."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path

from greenloop_sandbox.cache import cache_folder, read_json, write
from greenloop_sandbox.container.base import REPOSITORY as BASES
from greenloop_sandbox.container.engine import LABEL, Engine

log = logging.getLogger(__name__)

UNUSED_DAYS = 30
DAY = 86_400.0
_LAST_PRUNED = "looked for unused ones"


def record_use(*names: str) -> None:
    """Records that these images are in use now."""
    _write({**read_json(_file()), **dict.fromkeys(names, time.time())})


def prune_daily(engine: Engine) -> list[str]:
    """Removes images unused for `UNUSED_DAYS`, at most once a day. Returns the names of those removed.

    An image that this machine has not seen before counts as used now: on a shared engine it may be another user's.
    """
    last_used, now = read_json(_file()), time.time()
    if now - last_used.get(_LAST_PRUNED, 0.0) < DAY:
        return []
    removed: list[str] = []
    present: set[str] = set()
    with contextlib.suppress(*engine.errors):
        for image in engine.client.images.list(filters={"label": [f"{LABEL}.image"]}):
            for name in (tag.removeprefix("localhost/") for tag in image.tags):  # podman's prefix
                if name.startswith(f"{BASES}:"):
                    continue  # the base of all others, and expensive to build
                present.add(name)
                if now - last_used.setdefault(name, now) > UNUSED_DAYS * DAY:
                    with contextlib.suppress(*engine.errors):  # an image that a container uses stays
                        engine.client.images.remove(name)
                        removed.append(name)
        last_used = {name: used_at for name, used_at in last_used.items() if name in present and name not in removed}
    _write({**last_used, _LAST_PRUNED: now})
    if removed:
        log.info("Removed %d image(s) that were not used for %d days.", len(removed), UNUSED_DAYS)
    return removed


def _file() -> Path:
    return cache_folder() / "images.json"


def _write(uses: Mapping[str, float]) -> None:
    write(_file(), json.dumps(uses).encode())
