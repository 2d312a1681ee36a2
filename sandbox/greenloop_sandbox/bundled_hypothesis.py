"""Bundles greenloop's own Hypothesis into one read-only file, for projects that have none.

A test that needs it appends the file (its path is in the variable `PATH_VARIABLE`) to the import path, so that a
project's own Hypothesis always wins; the file contains only `PACKAGES`. Only a pure Python Hypothesis can be bundled,
because the project may use another Python than greenloop.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import logging
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from greenloop_sandbox import payload
from greenloop_sandbox.cache import cache_folder, keep_newest, write

log = logging.getLogger(__name__)

NAME = "guests.zip"
PATH_VARIABLE = "GREENLOOP_GUESTS"
PACKAGES = ("hypothesis", "_hypothesis_globals", "_hypothesis_ftz_detector", "sortedcontainers", "attr", "attrs")
_DISTRIBUTIONS = ("hypothesis", "sortedcontainers", "attrs")
_LEFT_OUT = frozenset({"extra", "__pycache__"})  # plug-ins for other packages, and code for one Python only
_KEPT = 8  # files of different versions and installations
_UNCHECKED = (1).to_bytes(4, "little") + bytes(8)  # bytecode that is never compared with its source (PEP 552)


@cache
def archive() -> bytes:
    """The bundled file; empty if greenloop's own Hypothesis is not installed or not pure Python.

    It is built once for each version and kept in the cache folder.
    """
    try:
        versions = [f"{name}-{metadata.version(name)}" for name in _DISTRIBUTIONS]
    except metadata.PackageNotFoundError:
        return b""
    return _load(versions, [path for name in PACKAGES if (path := payload.find_package(name))])


def _load(versions: list[str], packages: list[Path]) -> bytes:
    """The file of an installation: `packages` are the file or folder of each."""
    key = "\n".join([*versions, sys.version, *map(str, packages)])
    file = cache_folder() / "guests" / f"{versions[0]}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.zip"
    try:
        return file.read_bytes()
    except OSError:
        pass
    data = _build_archive(packages)
    if data:
        write(file, data)
        # Each installation of greenloop has its own, and none may make another build it again.
        keep_newest(file.parent, _KEPT)
    return data


def _build_archive(packages: list[Path]) -> bytes:
    if any(path.suffix in (".so", ".pyd") for package in packages for path in package.rglob("*")):
        log.info(
            "The Hypothesis installed with greenloop is not pure Python: projects without one get no property tests."
        )
        return b""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as zip_file:
        for package in packages:
            for path in _files(package):
                name, data = path.relative_to(package.parent).as_posix(), path.read_bytes()
                zip_file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
                if path.suffix == ".py" and (code := _compile(path)):
                    zip_file.writestr(zipfile.ZipInfo(f"{name}c"), code, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _files(place: Path) -> Iterator[Path]:
    """Yields the sources, and the data files that they read."""
    if place.is_file():
        yield place
        return
    for path in sorted(place.rglob("*")):
        relative = path.relative_to(place)
        if path.suffix in (".py", ".txt") and path.is_file() and not _LEFT_OUT & set(relative.parts):
            yield path


def _compile(path: Path) -> bytes:
    """The bytecode that the installer compiled; an interpreter of another version ignores it and reads the source."""
    try:
        data = Path(importlib.util.cache_from_source(str(path))).read_bytes()
    except (OSError, NotImplementedError):
        return b""
    magic = importlib.util.MAGIC_NUMBER
    return magic + _UNCHECKED + data[16:] if data.startswith(magic) else b""
