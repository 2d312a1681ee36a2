"""Provides the base image: the official slim one if it can be pulled, else one built on this machine."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from greenloop_sandbox.container.bounded_process import make_runner
from greenloop_sandbox.container.engine import LABEL, Engine, error_line, is_missing
from greenloop_sandbox.errors import CannotVerifyError

log = logging.getLogger(__name__)

# Debian releases by Python version; images of other versions can only be pulled.
SUITES = {(3, 9): "bullseye", (3, 11): "bookworm", (3, 13): "trixie"}
DEBOOTSTRAP_SECONDS = 1200
REPOSITORY = "greenloop-base"
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def official_image(version: tuple[int, int]) -> str:
    return f"python:{version[0]}.{version[1]}-slim"


def ensure(
    engine: Engine, version: tuple[int, int], report_status: Callable[[str], None], should_stop: Callable[[], bool]
) -> str:
    """Returns the name of a base image with this Python, after pulling or building it where it is missing.

    Raises `CannotVerifyError` with both reasons when it can neither be pulled nor built here.
    """
    if present := find(engine, version):
        return present
    report_status(f"pulling {official_image(version)}")
    refusal = pull(engine, official_image(version), should_stop)
    if not refusal:
        return official_image(version)
    log.info("%s cannot be pulled: %s", official_image(version), refusal)
    obstacle = build_obstacle(version)
    if obstacle:
        raise CannotVerifyError(
            f"There is no image for Python {version[0]}.{version[1]}: "
            f"{official_image(version)} cannot be pulled ({refusal}), and {obstacle}.",
            remedy=f"Get it with `docker load` or `docker pull {official_image(version)}`, or set `sandbox.image`.",
        )
    _build(engine, _own_image(version), SUITES[version], report_status, should_stop)
    return _own_image(version)


def find(engine: Engine, version: tuple[int, int]) -> str:
    """The name of a base image that the engine has; empty where it has none."""
    return next((name for name in (official_image(version), _own_image(version)) if has_image(engine, name)), "")


def _own_image(version: tuple[int, int]) -> str:
    return f"{REPOSITORY}:{version[0]}.{version[1]}"


def has_image(engine: Engine, name: str) -> bool:
    """True if the engine has the image. Raises what the engine raises when it fails."""
    try:
        engine.client.images.get(name)
    except engine.errors as error:
        if is_missing(error):
            return False
        raise
    return True


def tool_path(name: str) -> str | None:
    """The path of a system program, also where /usr/sbin is not on PATH."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin")


def build_obstacle(version: tuple[int, int], find: Callable[[str], object] = tool_path, is_root: bool = IS_ROOT) -> str:
    """The reason that no base image can be built on this machine; empty if one can."""
    if version not in SUITES:
        return f"greenloop has no recipe for Python {version[0]}.{version[1]}"
    missing = [tool for tool in ("debootstrap", "unshare", "tar") if not find(tool)]
    if missing:
        return f"building one here needs {missing[0]} (`apt-get install {missing[0]}`)"
    if not is_root:
        return "building one here needs root"
    return ""


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


def _build(
    engine: Engine, name: str, suite: str, report_status: Callable[[str], None], should_stop: Callable[[], bool]
) -> None:
    report_status(f"building an image from Debian {suite} (once, about two minutes)")
    with tempfile.TemporaryDirectory(prefix="greenloop-image-", dir=large_temporary_folder()) as folder:
        rootfs = Path(folder) / "rootfs"
        # In namespaces of its own, so that no mount or process of it is left, however it ends.
        debootstrap = ["unshare", "--mount", "--pid", "--fork", "--kill-child", str(tool_path("debootstrap"))]
        run = make_runner(should_stop)
        # Before Python 3.10 pip needs what Debian keeps in a package of its own.
        packages = "python3,python3-distutils" if suite == "bullseye" else "python3"
        run([*debootstrap, "--variant=minbase", f"--include={packages}", suite, str(rootfs)], DEBOOTSTRAP_SECONDS)
        report_status("importing the image")
        _import(engine, name, rootfs)


def _import(engine: Engine, name: str, rootfs: Path) -> None:
    repository, _, tag = name.partition(":")
    excluded = ["--exclude=./var/cache/apt/*", "--exclude=./var/lib/apt/lists/*", "--exclude=./usr/share/doc/*"]
    with subprocess.Popen(
        ["tar", "-C", str(rootfs), "--numeric-owner", *excluded, "-c", "."],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as tar:
        changes = ["ENV LANG=C.UTF-8", f"LABEL {LABEL}.image=base"]
        engine.client.api.import_image_from_stream(tar.stdout, repository=repository, tag=tag, changes=changes)
    if tar.returncode or not has_image(engine, name):
        raise CannotVerifyError(
            f"The engine rejected the image {name}.", remedy="Check the disk space: `docker system df`."
        )


def large_temporary_folder() -> str | None:
    """A folder for large files, on a disk; /tmp may be in memory."""
    return "/var/tmp" if os.path.isdir("/var/tmp") else None  # noqa: PTH112, S108
