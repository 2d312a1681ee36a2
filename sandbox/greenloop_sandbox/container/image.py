"""Builds the default image for tests, once: Python of the project's version and pytest."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from greenloop_sandbox import payload
from greenloop_sandbox.cache import cache_folder
from greenloop_sandbox.container import base, pytest_wheels
from greenloop_sandbox.container.bounded_process import make_runner
from greenloop_sandbox.container.build_container import run_container
from greenloop_sandbox.container.engine import LABEL, Engine
from greenloop_sandbox.errors import CannotVerifyError

log = logging.getLogger(__name__)

REPOSITORY = "greenloop-python"
INSTALL_SECONDS = 900


def image_name(version: tuple[int, int]) -> str:
    """Repository and tag, which identify Python, pytest and the recipe: another recipe is another image."""
    recipe = hashlib.sha256(pytest_wheels.pins_file(version).read_bytes() + _install_program().encode()).hexdigest()[:8]
    return f"{REPOSITORY}:{version[0]}.{version[1]}-pytest{pytest_wheels.pytest_version(version)}-{recipe}"


def ensure(
    engine: Engine,
    version: tuple[int, int],
    *,
    report_status: Callable[[str], None] = log.info,
    should_stop: Callable[[], bool] = bool,
) -> str:
    """Returns the image's name, after building it where it is missing.

    One process builds it, others wait. `should_stop()` true ends the work within a second.
    Raises `CannotVerifyError` with the remedy, or what the engine raises.
    """
    target = image_name(version)
    if base.has_image(engine, target):
        return target
    with exclusive(f"{version[0]}.{version[1]}", should_stop):
        if not base.has_image(engine, target):
            started = time.monotonic()
            base_image = base.ensure(engine, version, report_status, should_stop)
            report_status("adding pytest to the image")
            with tempfile.NamedTemporaryFile(prefix="greenloop-layer-", dir=base.large_temporary_folder()) as file:
                pytest_wheels.write_layer(Path(file.name), version, make_runner(should_stop))
                add_layer(engine, base_image, target, Path(file.name), kind="python", should_stop=should_stop)
            log.info("Made %s in %.0f s.", target, time.monotonic() - started)
    return target


def _install_program() -> str:
    return (payload.folder() / "image" / "install.py").read_text(encoding="utf-8")


def add_layer(
    engine: Engine, base_image: str, target: str, layer: Path, *, kind: str, should_stop: Callable[[], bool] = bool
) -> None:
    """Adds the archive to the base image, installs and compiles it without network, and commits the result.

    `kind` is a label of the image. Raises `CannotVerifyError`, or what the engine raises.
    """
    with run_container(
        engine, base_image, _install_program(), layer=layer, seconds=INSTALL_SECONDS, should_stop=should_stop
    ) as finished:
        if finished.status:
            raise CannotVerifyError(
                f"The image could not be built: python3 in {base_image} ended with "
                f"status {finished.status} ({finished.error_line()})."
            )
        repository, _, tag = target.partition(":")
        # The image must not keep the container's labels, or it would be removed as an orphan.
        changes = [
            f'LABEL {LABEL}="" {LABEL}.owner="" {LABEL}.boot="" {LABEL}.image={kind}',
            "ENTRYPOINT []",
            'CMD ["python3"]',
        ]
        finished.container.commit(repository=repository, tag=tag, changes=changes)


@contextlib.contextmanager
def exclusive(work: str, should_stop: Callable[[], bool]) -> Iterator[None]:
    """Holds the lock file of this work; waits for it, calling `should_stop` twice a second."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, where two processes do the same work and the last one wins
    except ImportError:
        yield
        return
    path: Path = cache_folder() / f"image-{work}.lock"
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if should_stop():
                    raise CannotVerifyError(
                        "Cancelled while waiting for another greenloop to build the image."
                    ) from None
                time.sleep(0.5)
        os.ftruncate(file.fileno(), 0)
        yield
