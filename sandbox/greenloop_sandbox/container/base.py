"""Provides the base image: the official slim one of the project's Python."""

from __future__ import annotations

import os
from collections.abc import Callable

from greenloop_sandbox.container.engine import Engine, error_line, is_missing
from greenloop_sandbox.errors import CannotVerifyError


def official_image(version: tuple[int, int]) -> str:
    return f"python:{version[0]}.{version[1]}-slim"


def ensure(
    engine: Engine, version: tuple[int, int], report_status: Callable[[str], None], should_stop: Callable[[], bool]
) -> str:
    """Returns the name of a base image with this Python, after pulling it where it is missing.

    Raises `CannotVerifyError` with the reason when it cannot be pulled.
    """
    name = official_image(version)
    if has_image(engine, name):
        return name
    report_status(f"pulling {name}")
    if refusal := pull(engine, name, should_stop):
        raise CannotVerifyError(
            f"There is no image for Python {version[0]}.{version[1]}: {name} cannot be pulled ({refusal}).",
            remedy=f"Get it with `docker load` or `docker pull {name}`, or set `sandbox.image`.",
        )
    return name


def has_image(engine: Engine, name: str) -> bool:
    """True if the engine has the image. Raises what the engine raises when it fails."""
    try:
        engine.client.images.get(name)
    except engine.errors as error:
        if is_missing(error):
            return False
        raise
    return True


def pull(engine: Engine, name: str, should_stop: Callable[[], bool]) -> str:
    """Pulls an image; returns a short reason when that fails, else "". The engine's time limit applies to each step."""
    try:
        for step in engine.client.api.pull(name, stream=True, decode=True):
            if should_stop():
                return "it was cancelled"
            if "error" in step:
                return " ".join(str(step["error"]).split())[:200]
    except engine.errors as error:
        return error_line(error)
    return "" if has_image(engine, name) else "the registry returned no image"


def large_temporary_folder() -> str | None:
    """A folder for large files, on a disk; /tmp may be in memory."""
    return "/var/tmp" if os.path.isdir("/var/tmp") else None  # noqa: PTH112, S108
