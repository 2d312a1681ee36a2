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

from greenloop.core.errors import CannotVerifyError
from greenloop.project.settings import cache_folder
from greenloop.sandboxes import payload
from greenloop.sandboxes.container import base, pytest_wheels
from greenloop.sandboxes.container.bounded_process import runner
from greenloop.sandboxes.container.build_container import once
from greenloop.sandboxes.container.engine import MARK, Engine

log = logging.getLogger(__name__)

REPOSITORY = "greenloop-python"
COMPILE_SECONDS = 900


def name(version: tuple[int, int]) -> str:
    """Repository and tag, which identify Python, pytest and the recipe: another recipe is another image."""
    recipe = hashlib.sha256(pytest_wheels.pins(version).read_bytes() + _compile_source().encode()).hexdigest()[:8]
    return f"{REPOSITORY}:{version[0]}.{version[1]}-pytest{pytest_wheels.pytest_version(version)}-{recipe}"


def ensure(
    engine: Engine,
    version: tuple[int, int],
    *,
    report_status: Callable[[str], None] = log.info,
    stop: Callable[[], bool] = bool,
) -> str:
    """Returns the image's name, after building it where it is missing.

    One process builds it, others wait. `should_stop()` true ends the work within a second.
    Raises `CannotVerifyError` with the remedy, or what the engine raises.
    """
    target = name(version)
    if base.has(engine, target):
        return target
    with alone(f"{version[0]}.{version[1]}", stop):
        if not base.has(engine, target):
            started = time.monotonic()
            base_image = base.ensure(engine, version, report_status, stop)
            report_status("adding pytest to the image")
            with tempfile.NamedTemporaryFile(prefix="greenloop-layer-", dir=base.roomy()) as file:
                file.write(pytest_wheels.layer(version, runner(stop)))
                file.flush()
                add(engine, base_image, target, Path(file.name), kind="python", stop=stop)
            log.info("Made %s in %.0f s.", target, time.monotonic() - started)
    return target


def _compile_source() -> str:
    return (payload.folder() / "image" / "compile.py").read_text(encoding="utf-8")


def add(engine: Engine, below: str, wanted: str, layer: Path, *, kind: str, stop: Callable[[], bool] = bool) -> None:
    """Adds the archive to the base image, compiles it in a container without network, and commits the result.

    `kind` is a label of the image. Raises `CannotVerifyError`, or what the engine raises.
    """
    with once(engine, below, _compile_source(), layer=layer, seconds=COMPILE_SECONDS, stop=stop) as finished:
        if finished.status:
            raise CannotVerifyError(
                f"The image could not be made: python3 in {below} ended with "
                f"status {finished.status} ({finished.complaint()})."
            )
        repository, _, tag = wanted.partition(":")
        # The image must not keep the container's labels, or it would be removed as an orphan.
        changes = [
            f'LABEL {MARK}="" {MARK}.owner="" {MARK}.boot="" {MARK}.image={kind}',
            "ENTRYPOINT []",
            'CMD ["python3"]',
        ]
        finished.container.commit(repository=repository, tag=tag, changes=changes)


@contextlib.contextmanager
def alone(work: str, stop: Callable[[], bool]) -> Iterator[None]:
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
                if stop():
                    raise CannotVerifyError("Waiting for another greenloop that makes the image was stopped.") from None
                time.sleep(0.5)
        os.ftruncate(file.fileno(), 0)
        yield
