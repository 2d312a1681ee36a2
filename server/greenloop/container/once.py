"""A throw-away container without network that runs one Python program, for making images; never for tests."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.container.engine import Engine, labels
from greenloop.container.shape import ULIMITS
from greenloop.core.errors import CannotVerify

BUILD_MEMORY = 4 << 30
BUILD_PROCESSES = 512


@dataclass(frozen=True, kw_only=True)
class Done:
    """The container after its end: exit status, the last of its output."""

    container: Any
    status: int
    output: str

    def complaint(self) -> str:
        """The line of its output that says most: the last one about an error, else the last."""
        lines = [line.strip()[:300] for line in self.output.splitlines() if line.strip()]
        errors = [line for line in lines if re.search(r"(?i)\berror\b|Error:", line)]
        return (errors or lines or ["no output"])[-1]

    def archive(self, path: str, most: int) -> bytes:
        """A folder of it as a tar archive. Raises `CannotVerify` when that has more than `most` bytes."""
        parts, size = [], 0
        for part in self.container.get_archive(path)[0]:
            size += len(part)
            if size > most:
                raise CannotVerify(f"A build gave more than {most >> 20} MiB.")
            parts.append(part)
        return b"".join(parts)


@contextlib.contextmanager
def once(
    engine: Engine,
    image: str,
    program: str,
    arguments: Sequence[str] = (),
    *,
    layer: Path | None = None,
    seconds: float = 180,
    stop: Callable[[], bool] = bool,
) -> Iterator[Done]:
    """Runs the program to its end over the image and the archive `layer`; the container goes with the context.

    Memory and processes are limited: packages may run code of their own as soon as Python starts.
    Raises `CannotVerify` when it takes too long or `stop()` says so, and what the engine raises.
    """
    container = engine.client.containers.create(
        image,
        entrypoint=["python3", "-I", "-c", program],
        command=list(arguments),
        user="0:0",
        network_mode="none",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true"],
        ulimits=ULIMITS,
        working_dir="/",
        labels=labels(),
        log_config={"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
        mem_limit=BUILD_MEMORY,
        memswap_limit=BUILD_MEMORY,
        pids_limit=BUILD_PROCESSES,
    )
    try:
        if layer is not None:
            with layer.open("rb") as stream:
                container.put_archive("/", stream)
        container.start()
        status = _ended(container, seconds, stop)
        yield Done(container=container, status=status, output=container.logs(tail=40).decode("utf-8", "replace"))
    finally:
        with contextlib.suppress(*engine.errors):
            container.remove(force=True, v=True)


def _ended(container: Any, seconds: float, stop: Callable[[], bool]) -> int:
    until = time.monotonic() + seconds
    while True:
        container.reload()
        state = container.attrs["State"]
        if state["Status"] not in {"created", "running"}:
            return int(state["ExitCode"])
        if stop():
            raise CannotVerify("Making the image was stopped.")
        if time.monotonic() > until:
            raise CannotVerify(f"Making the image took longer than {seconds:g} s.")
        time.sleep(0.1)
