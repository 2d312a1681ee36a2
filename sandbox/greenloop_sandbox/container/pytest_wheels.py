"""Fetches pytest for an image: pinned pure wheels, unpacked on the host into one tar archive."""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from greenloop_sandbox import payload
from greenloop_sandbox.container.build_container import write_archive
from greenloop_sandbox.errors import CannotVerifyError

PACKAGES = ".greenloop/packages"  # boot.py looks for it there
DOWNLOAD_SECONDS = 180
BORROWED_PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def pins_file(version: tuple[int, int]) -> Path:
    """The pins for a Python version. Raises `CannotVerifyError` when it is too old for every supported pytest."""
    for least in ((3, 11), (3, 10), (3, 9)):
        if version >= least:
            return payload.folder() / "image" / f"packages-{least[0]}.{least[1]}.txt"
    raise CannotVerifyError(
        f"Python {version[0]}.{version[1]} is too old for the sandbox.",
        remedy="Use Python 3.9 or newer for the project.",
    )


def pytest_version(version: tuple[int, int]) -> str:
    """The version of pytest in an image of this Python version."""
    line = next(
        line for line in pins_file(version).read_text(encoding="ascii").splitlines() if line.startswith("pytest==")
    )
    return line.split()[0].removeprefix("pytest==")


def write_layer(file: Path, version: tuple[int, int], run_program: Callable[[list[str], float], str]) -> None:
    """Writes a tar archive for `/` of the image: the unpacked wheels, and a world-writable /tmp.

    `run_program(arguments, seconds)` runs a program and returns its output; it raises `CannotVerifyError` on failure.
    """
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="greenloop-wheels-") as folder:
        try:
            run_program(_download_command(version, folder), DOWNLOAD_SECONDS)
        except CannotVerifyError:
            if version < (3, 11):
                raise
            # No pip here, or no index reachable: greenloop's own pytest works for these versions.
            files = borrowed_files()
        for wheel in sorted(Path(folder).glob("*.whl")):
            with zipfile.ZipFile(wheel) as unpacked:
                names = [name for name in unpacked.namelist() if not name.endswith("/") and ".data/" not in name]
                files |= {name: unpacked.read(name) for name in names}
    # A container's tmpfs on /tmp takes over the mode of this folder.
    write_archive(file, {f"{PACKAGES}/{name}": data for name, data in files.items()}, {"tmp": 0o1777})


def borrowed_files() -> dict[str, bytes]:
    """Greenloop's own pytest and its dependencies, with metadata, by path below a folder of packages."""
    files: dict[str, bytes] = {}
    for name in BORROWED_PACKAGES:
        for file in metadata.distribution(name).files or ():
            path = Path(str(file.locate()))
            if (file.suffix == ".py" or ".dist-info" in file.parts[0]) and ".." not in file.parts and path.is_file():
                files[file.as_posix()] = path.read_bytes()
    return files


def _download_command(version: tuple[int, int], folder: str) -> list[str]:
    return [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--require-hashes",
        "--only-binary=:all:", "--platform=any", "--implementation=py", "--abi=none",
        f"--python-version={version[0]}.{version[1]}", f"--dest={folder}", f"--requirement={pins_file(version)}",
    ]  # fmt: skip
