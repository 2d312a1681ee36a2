"""Runs one Python program over an archive of files in a throw-away container without network, to build images."""

from __future__ import annotations

import contextlib
import re
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop_sandbox.container.engine import Engine, container_labels
from greenloop_sandbox.container.hardening import ULIMITS
from greenloop_sandbox.errors import CannotVerifyError

BUILD_MEMORY = 4 << 30
BUILD_PROCESSES = 512


@dataclass(frozen=True, kw_only=True)
class FinishedContainer:
    """A container that has ended: its exit status and the end of its output."""

    container: Any
    status: int
    output: str

    def error_line(self) -> str:
        """The most telling line of the output: the last one about an error, else the last."""
        lines = [line.strip()[:300] for line in self.output.splitlines() if line.strip()]
        errors = [line for line in lines if re.search(r"(?i)\berror\b|Error:", line)]
        return (errors or lines or ["no output"])[-1]


def write_archive(file: Path, contents: Mapping[str, Path]) -> None:
    """Writes a tar archive for `/` of an image: files and folders by their path in it, owned by root; and /tmp."""

    def as_root(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        member.uid = member.gid = 0
        member.mode = 0o755 if member.isdir() else 0o644
        return None if "__pycache__" in member.name else member

    with tarfile.open(file, mode="w") as tar:
        temporary = tarfile.TarInfo("tmp")
        # A container's tmpfs on /tmp takes over the mode of this folder.
        temporary.type, temporary.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(temporary)
        for path, content in contents.items():
            tar.add(content, path, filter=as_root)


@contextlib.contextmanager
def run_container(
    engine: Engine,
    image: str,
    program: str,
    *,
    layer: Path | None = None,
    seconds: float = 180,
    should_stop: Callable[[], bool] = bool,
) -> Iterator[FinishedContainer]:
    """Runs a program to its end on the image plus the archive `layer`; the container is removed with the context.

    Memory and processes are limited: packages may run code of their own as soon as Python starts.
    Raises `CannotVerifyError` when it takes too long or `should_stop()` is true, and what the engine raises.
    """
    container = engine.client.containers.create(
        image,
        entrypoint=["python3", "-I", "-c", program],
        command=[],
        user="0:0",
        network_mode="none",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true"],
        ulimits=ULIMITS,
        working_dir="/",
        labels=container_labels(),
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
        status = _wait_for_end(container, seconds, should_stop)
        yield FinishedContainer(
            container=container, status=status, output=container.logs(tail=40).decode("utf-8", "replace")
        )
    finally:
        with contextlib.suppress(*engine.errors):
            container.remove(force=True, v=True)


def _wait_for_end(container: Any, seconds: float, should_stop: Callable[[], bool]) -> int:
    deadline = time.monotonic() + seconds
    while True:
        container.reload()
        state = container.attrs["State"]
        if state["Status"] not in {"created", "running"}:
            return int(state["ExitCode"])
        if should_stop():
            raise CannotVerifyError("Image build cancelled.")
        if time.monotonic() > deadline:
            raise CannotVerifyError(f"The image build took longer than {seconds:g} s.")
        time.sleep(0.1)
