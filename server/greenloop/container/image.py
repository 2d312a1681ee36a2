"""The image that tests run in when none is named: Python of the project's version and pytest, made once."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from greenloop import inside
from greenloop.container import base, wheels
from greenloop.container.engine import MARK, Engine
from greenloop.container.once import once
from greenloop.container.program import runner
from greenloop.core.errors import CannotVerify
from greenloop.settings import cache_folder

log = logging.getLogger(__name__)

REPOSITORY = "greenloop-python"
COMPILE_SECONDS = 900


def name(version: tuple[int, int]) -> str:
    """Repository and tag, which tell Python, pytest and the recipe: another recipe is another image."""
    recipe = hashlib.sha256(wheels.pins(version).read_bytes() + _compile_source().encode()).hexdigest()[:8]
    return f"{REPOSITORY}:{version[0]}.{version[1]}-pytest{wheels.pytest_version(version)}-{recipe}"


def ensure(
    engine: Engine, version: tuple[int, int], *, say: Callable[[str], None] = log.info, stop: Callable[[], bool] = bool
) -> str:
    """The image's name, after making it where it is not there yet.

    One process makes it, others wait. `stop()` true ends the work within a second.
    Raises `CannotVerify` with the remedy, or what the engine raises.
    """
    wanted = name(version)
    if base.has(engine, wanted):
        return wanted
    with alone(f"{version[0]}.{version[1]}", stop):
        if not base.has(engine, wanted):
            began = time.monotonic()
            below = base.ensure(engine, version, say, stop)
            say("adding pytest to the image")
            with tempfile.NamedTemporaryFile(prefix="greenloop-layer-", dir=base.roomy()) as file:
                file.write(wheels.layer(version, runner(stop)))
                file.flush()
                add(engine, below, wanted, Path(file.name), kind="python", stop=stop)
            log.info("Made %s in %.0f s.", wanted, time.monotonic() - began)
    return wanted


def _compile_source() -> str:
    return (inside.folder() / "image" / "compile.py").read_text(encoding="utf-8")


def add(engine: Engine, below: str, wanted: str, layer: Path, *, kind: str, stop: Callable[[], bool] = bool) -> None:
    """Lays the archive over the image below, compiles it in a container without network, and keeps the result.

    `kind` is written on the image. Raises `CannotVerify`, or what the engine raises.
    """
    with once(engine, below, _compile_source(), layer=layer, seconds=COMPILE_SECONDS, stop=stop) as done:
        if done.status:
            raise CannotVerify(
                f"The image could not be made: python3 in {below} ended with status {done.status} ({done.complaint()})."
            )
        repository, _, tag = wanted.partition(":")
        # The image must not carry the marks of the container, or it would look like something to be removed.
        changes = [
            f'LABEL {MARK}="" {MARK}.owner="" {MARK}.boot="" {MARK}.image={kind}',
            "ENTRYPOINT []",
            'CMD ["python3"]',
        ]
        done.container.commit(repository=repository, tag=tag, changes=changes)


@contextlib.contextmanager
def alone(work: str, stop: Callable[[], bool]) -> Iterator[None]:
    """Holds the lock file of this work; waits for it, looking at `stop` twice a second."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, where two makers do the same work twice and the last one wins
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
                    raise CannotVerify("Waiting for another greenloop that makes the image was stopped.") from None
                time.sleep(0.5)
        os.ftruncate(file.fileno(), 0)
        yield
