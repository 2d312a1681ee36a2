"""Makes a virtual environment of a folder of wheels, which are unpacked and not installed: nothing of them is run.

It is kept in the user's cache, under a hash of the wheels.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import venv
import zipfile
from pathlib import Path

from greenloop.core.errors import UsageError
from greenloop.project.settings import cache_folder

REMEDY = "Fill it with `pip download --only-binary :all: --dest FOLDER PACKAGE==VERSION`, or name an interpreter."


def make_environment(folder: Path) -> Path:
    """The interpreter of the environment with these wheels. Raises `UsageError` where they cannot be unpacked."""
    wheels = sorted(folder.glob("*.whl")) if folder.is_dir() else []
    if not wheels:
        raise UsageError(f"There is no wheel in {folder}.", remedy=REMEDY)
    place = cache_folder() / "bench" / _key(wheels)
    interpreter, complete = place / "bin" / "python", place / "complete"
    if complete.is_file() and interpreter.exists():
        return interpreter
    shutil.rmtree(place, ignore_errors=True)  # one that a kill left half made
    try:
        venv.EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(place)
        packages = place / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
        for wheel in wheels:
            _unpack(wheel, packages)
        complete.touch()
    except OSError as error:
        raise UsageError(f"The environment {place} cannot be made: {error}.", remedy=REMEDY) from error
    return interpreter


def _key(wheels: list[Path]) -> str:
    digest = hashlib.sha256(sys.version.encode())
    for wheel in wheels:
        digest.update(wheel.name.encode() + b"\0" + wheel.read_bytes())
    return digest.hexdigest()[:16]


def _unpack(wheel: Path, packages: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            if any(name.startswith("/") or ".." in Path(name).parts for name in names):
                raise UsageError(f"{wheel} has paths outside of its folder.", remedy="Download it again.")
            if any(name.partition("/")[0].endswith(".data") for name in names):
                raise UsageError(
                    f"{wheel} has files that only an installation puts in place.",
                    remedy="Install it into a virtual environment, and name that interpreter.",
                )
            archive.extractall(packages)
    except zipfile.BadZipFile as error:
        raise UsageError(f"{wheel} is not a wheel: {error}.", remedy=REMEDY) from error
