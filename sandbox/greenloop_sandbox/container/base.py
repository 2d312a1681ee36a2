"""Provides the base image: one that the engine has, else the official slim one from a registry."""

from __future__ import annotations

from collections.abc import Callable

from greenloop_sandbox.container.engine import Engine, error_line, is_missing
from greenloop_sandbox.errors import CannotVerifyError

REPOSITORY = "greenloop-base"  # of an image that the user made where no registry can be reached


def official_image(version: tuple[int, int]) -> str:
    return f"python:{version[0]}.{version[1]}-slim"


def ensure(
    engine: Engine, version: tuple[int, int], report_status: Callable[[str], None], should_stop: Callable[[], bool]
) -> str:
    """Returns the name of a base image with this Python, after pulling it where it is missing.

    Raises `CannotVerifyError` with the reason when it cannot be pulled.
    """
    if present := find(engine, version):
        return present
    name = official_image(version)
    report_status(f"pulling {name}")
    if refusal := pull(engine, name, should_stop):
        raise CannotVerifyError(
            f"There is no image for Python {version[0]}.{version[1]}: {name} cannot be pulled ({refusal}).",
            remedy=missing_remedy(version),
        )
    return name


def missing_remedy(version: tuple[int, int]) -> str:
    """Says how to get an image with this Python where the registry does not answer."""
    name = official_image(version)
    own = f"{REPOSITORY}:{version[0]}.{version[1]}"
    return (
        f"Get it with `docker load` or `docker pull {name}`, or set `sandbox.image`. Without a registry, on Debian: "
        f"`debootstrap --include=python3 SUITE FOLDER && tar -C FOLDER -c . | docker import - {own}`."
    )


def find(engine: Engine, version: tuple[int, int]) -> str:
    """The name of a base image that the engine has; empty where it has none."""
    names = (official_image(version), f"{REPOSITORY}:{version[0]}.{version[1]}")
    return next((name for name in names if has_image(engine, name)), "")


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
