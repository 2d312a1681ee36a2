"""Fetches the packages of a lock, or those that requirements were resolved to once; a cache keeps the resolution."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from packaging.utils import parse_wheel_filename

from greenloop_sandbox import locks
from greenloop_sandbox.cache import cache_folder, keep_newest, write
from greenloop_sandbox.container.fetch import Fetcher
from greenloop_sandbox.container.image_python import default_markers
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.locks import PackageSources, Pin
from greenloop_sandbox.locks.pins import make_pin
from greenloop_sandbox.records import SandboxSpec

log = logging.getLogger(__name__)

MAX_RESOLUTIONS = 200


def list_packages(spec: SandboxSpec) -> list[Pin]:
    """Lists the packages in the image of a project, from the lock or its cached resolution; asks no index.

    Raises `CannotVerifyError` where the lock cannot be read.
    """
    sources = locks.find_sources(spec.root)
    if sources is None:
        return []
    version = spec.environment.version
    if sources.requirements:
        return _read(_resolution_file(version, sources)) or []
    return locks.read_pins(sources, default_markers(version))[0]


def fetch_packages(
    fetcher: Fetcher,
    version: tuple[int, int],
    sources: PackageSources,
    folder: Path,
    report_status: Callable[[str], None],
) -> list[Path]:
    """Fetches the wheels of the packages. Raises `CannotVerifyError`."""
    file = _resolution_file(version, sources)
    notes: Sequence[str] = sources.notes
    if sources.requirements:
        pins = _read(file)
    else:
        pins, notes = locks.read_pins(sources, fetcher.python.markers)
    for note in notes:
        log.warning("%s", note)
    if pins is not None:
        report_status(f"fetching {len(pins)} packages")
        try:
            return fetcher.fetch(folder / "wheels", [str(pin) for pin in pins], "--no-deps")
        except CannotVerifyError as problem:
            if not sources.requirements or fetcher.should_stop():
                raise
            log.info("What was resolved before cannot be had any more (%s); resolving again.", problem)
    report_status("resolving the project's requirements (once)")
    bounds = folder / "bounds.txt"
    bounds.write_text("".join(f"{line}\n" for line in sources.constraints), encoding="utf-8")
    wheels = fetcher.fetch(folder / "resolved", sources.requirements, f"--constraint={bounds}")
    write(file, json.dumps([vars(pin) for pin in sorted(map(_pin, wheels))]).encode())
    with contextlib.suppress(OSError):
        keep_newest(file.parent, MAX_RESOLUTIONS)
    return wheels


def _pin(wheel: Path) -> Pin:
    name, version, _build, _tags = parse_wheel_filename(wheel.name)
    with wheel.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return make_pin(name, str(version), [f"sha256:{digest}"])


def _resolution_file(version: tuple[int, int], sources: PackageSources) -> Path:
    digest = hashlib.sha256(sources.content).hexdigest()[:32]
    return cache_folder() / "resolved" / f"{version[0]}.{version[1]}-{digest}.json"


def _read(file: Path) -> list[Pin] | None:
    with contextlib.suppress(OSError, ValueError, TypeError):
        return [Pin(**{**fields, "hashes": tuple(fields["hashes"])}) for fields in json.loads(file.read_text("utf-8"))]
    return None
