"""A connected container engine, greenloop's labels on its containers, and the removal of orphans."""

from __future__ import annotations

import contextlib
import logging
import os
from dataclasses import dataclass
from typing import Any

import psutil

from greenloop_sandbox.selftest_cache import boot_id

log = logging.getLogger(__name__)

LABEL = "dev.greenloop"
OWNER_LABEL = f"{LABEL}.owner"  # pid and start time of the process that owns the container
BOOT_LABEL = f"{LABEL}.boot"  # machine, boot and pid namespace in which that pid is valid


@dataclass(frozen=True, kw_only=True)
class Engine:
    """`client` is a `docker.DockerClient`, `errors` all it may raise; `name` and `version` are the engine's own."""

    client: Any
    errors: tuple[type[Exception], ...]
    name: str
    version: str


def is_missing(error: Exception) -> bool:
    """True if the engine reports that the container or image does not exist (any more)."""
    response = getattr(error, "response", None)
    return getattr(response, "status_code", None) == 404


def error_line(error: Exception) -> str:
    """The engine's error message on one line."""
    text = getattr(error, "explanation", None) or error
    return " ".join(str(text).split())[:300] or type(error).__name__


def container_labels() -> dict[str, str]:
    """The labels of every container that must not outlive this process."""
    return {LABEL: "1", OWNER_LABEL: _process_identity(os.getpid()), BOOT_LABEL: boot_id()}


def _process_identity(pid: int) -> str:
    return f"{pid}/{psutil.Process(pid).create_time():.1f}"


def _is_alive(owner: str) -> bool:
    try:
        return _process_identity(int(owner.partition("/")[0])) == owner
    except (ValueError, psutil.NoSuchProcess):
        return False
    except psutil.AccessDenied:
        return True


def remove_orphans(engine: Engine) -> int:
    """Removes containers whose owner has ended and returns how many. Those of other machines and users are kept."""
    removed = 0
    with contextlib.suppress(*engine.errors):
        for container in engine.client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True):
            if container.labels.get(BOOT_LABEL) == boot_id() and not _is_alive(container.labels.get(OWNER_LABEL, "")):
                with contextlib.suppress(*engine.errors):
                    container.remove(force=True, v=True)
                    removed += 1
    if removed:
        log.info("Removed %d container(s) of greenloop processes that are gone.", removed)
    return removed
