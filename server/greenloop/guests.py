"""Hypothesis for projects that have none: greenloop's own copy, as one file that the sandbox shows read-only.

A test that needs it puts the file (`VARIABLE` names it there) at the end of its import path, so that a project's own
Hypothesis always wins; `PACKAGES` are all that is in it. Only a Hypothesis of pure Python can be lent, for the project
may have another Python than greenloop.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import logging
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from greenloop.settings import cache_folder

log = logging.getLogger(__name__)

NAME = "guests.zip"
VARIABLE = "GREENLOOP_GUESTS"
PACKAGES = ("hypothesis", "_hypothesis_globals", "_hypothesis_ftz_detector", "sortedcontainers", "attr", "attrs")
_DISTRIBUTIONS = ("hypothesis", "sortedcontainers", "attrs")
_LEFT_OUT = frozenset({"extra", "__pycache__"})  # plug-ins for other packages, and code for one Python alone
_UNCHECKED = (1).to_bytes(4, "little") + bytes(8)  # compiled code that is never compared with its source (PEP 552)


@cache
def archive() -> bytes:
    """The file; empty where greenloop's own Hypothesis is not installed or not of pure Python.

    It is made once for each version and kept in the cache folder.
    """
    try:
        versions = [f"{name}-{metadata.version(name)}" for name in _DISTRIBUTIONS]
    except metadata.PackageNotFoundError:
        return b""
    key = "\n".join([*versions, sys.version, *(str(path) for path in _places())])
    file = cache_folder() / "guests" / f"{versions[0]}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.zip"
    try:
        return file.read_bytes()
    except OSError:
        pass
    data = _made()
    if data:
        _keep(file, data)
    return data


def _places() -> list[Path]:
    """The file or folder of each package; those that are not installed are left out."""
    found = []
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            path = Path(spec.origin)
            found.append(path.parent if path.name == "__init__.py" else path)
    return found


def _made() -> bytes:
    places = _places()
    if any(path.suffix in (".so", ".pyd") for place in places for path in place.rglob("*")):
        log.info("The Hypothesis beside greenloop is not of pure Python: projects without one get no property tests.")
        return b""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as target:
        for place in places:
            for path in _files(place):
                name, data = path.relative_to(place.parent).as_posix(), path.read_bytes()
                target.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
                if path.suffix == ".py" and (code := _compiled(path)):
                    target.writestr(zipfile.ZipInfo(f"{name}c"), code, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _files(place: Path) -> Iterator[Path]:
    """Sources, and the data files that they read."""
    if place.is_file():
        yield place
        return
    for path in sorted(place.rglob("*")):
        inner = path.relative_to(place)
        if path.suffix in (".py", ".txt") and path.is_file() and not _LEFT_OUT & set(inner.parts):
            yield path


def _compiled(path: Path) -> bytes:
    """What the installer compiled already: an interpreter of another version passes it over and reads the source."""
    try:
        data = Path(importlib.util.cache_from_source(str(path))).read_bytes()
    except (OSError, NotImplementedError):
        return b""
    magic = importlib.util.MAGIC_NUMBER
    return magic + _UNCHECKED + data[16:] if data.startswith(magic) else b""


def _keep(file: Path, data: bytes) -> None:
    """Written beside its place and moved there, so that nobody ever reads a part of it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        number, beside = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(number, "wb") as stream:
            stream.write(data)
        Path(beside).replace(file)
        for old in file.parent.glob("*.zip"):
            if old != file:
                old.unlink(missing_ok=True)
    except OSError as error:
        log.info("%s could not be kept: %s", file, error)
