"""Unpacks wheels into one tar archive for `/` of an image, as an installer would place their files."""

from __future__ import annotations

import configparser
import io
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Self

from greenloop_sandbox.container.image_python import ImagePython
from greenloop_sandbox.errors import CannotVerifyError

MAX_BYTES = 8 << 30  # unpacked; a zip bomb must not fill the disk
_SCRIPT = """#!{python}
import sys
from {module} import {first}
if __name__ == "__main__":
    sys.exit({call}())
"""


class LayerArchive:
    """A tar archive that is being written."""

    def __init__(self, file: Path) -> None:
        self._bytes_written = 0
        self._tar = tarfile.open(file, mode="w")  # noqa: SIM115 - closed by `__exit__`
        self._folders: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._tar.close()

    def add_wheels(self, wheels: Iterable[Path], python: ImagePython, target: str = "") -> None:
        """Unpacks wheels into `target`, or where it is empty into the image's Python's own folders.

        Raises `CannotVerifyError` for a file that is not a wheel or that would leave its folder.
        """
        for wheel in wheels:
            try:
                with zipfile.ZipFile(wheel) as archive:
                    self._unpack(wheel, archive, python, target)
            except (zipfile.BadZipFile, ValueError, OSError, RuntimeError) as error:
                raise CannotVerifyError(f"{wheel.name} cannot be unpacked: {error}") from error

    def add_file(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Adds one file, by its absolute path."""
        self._bytes_written += len(data)
        if self._bytes_written > MAX_BYTES:
            raise CannotVerifyError(f"The project's packages take more than {MAX_BYTES >> 30} GiB.")
        relative = PurePosixPath(path.lstrip("/"))
        for folder in reversed(relative.parents):
            if str(folder) not in {".", *self._folders}:
                self.add_folder(str(folder))
        member = tarfile.TarInfo(str(relative))
        member.size, member.mode = len(data), mode
        self._tar.addfile(member, io.BytesIO(data))

    def add_folder(self, path: str, mode: int = 0o755) -> None:
        """Adds an empty folder, by its path without the first slash."""
        self._folders.add(path)
        member = tarfile.TarInfo(path)
        member.type, member.mode = tarfile.DIRTYPE, mode
        self._tar.addfile(member)

    def _unpack(self, wheel: Path, archive: zipfile.ZipFile, python: ImagePython, target: str) -> None:
        paths = python.paths
        if target:
            paths = {scheme: target if scheme.endswith("lib") else f"{target}/.{scheme}" for scheme in paths}
        for info in archive.infolist():
            if info.is_dir():
                continue
            name = PurePosixPath(info.filename)
            if name.is_absolute() or ".." in name.parts or "\\" in info.filename:
                raise ValueError(f"it contains {info.filename!r}")
            data, mode = archive.read(info), 0o644
            scheme, relative = "purelib", name
            if name.parts[0].endswith(".data") and len(name.parts) > 2:
                scheme, relative = name.parts[1], PurePosixPath(*name.parts[2:])
            if scheme == "headers":
                scheme, relative = "include", PurePosixPath(wheel.name.partition("-")[0], relative)
            if scheme == "scripts":
                mode = 0o755
                if data.startswith(b"#!python"):
                    data = b"#!" + python.executable.encode() + data[data.find(b"\n") :]
            elif info.external_attr >> 16 & 0o111:
                mode = 0o755
            if scheme not in paths:
                raise ValueError(f"it has files for {scheme!r}")
            self.add_file(f"{paths[scheme]}/{relative}", data, mode)
            if name.name == "entry_points.txt" and len(name.parts) == 2 and name.parts[0].endswith(".dist-info"):
                self._add_scripts(data.decode("utf-8", "replace"), paths["scripts"], python.executable)

    def _add_scripts(self, text: str, folder: str, executable: str) -> None:
        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        try:
            parser.read_string(text)
        except configparser.Error:
            return
        for section in ("console_scripts", "gui_scripts"):
            for name, value in parser.items(section) if parser.has_section(section) else ():
                module, _, call = value.partition("[")[0].strip().partition(":")
                is_safe = name.replace("-", "").replace(".", "").replace("_", "").isalnum()
                if call and is_safe:
                    script = _SCRIPT.format(
                        python=executable, module=module.strip(), first=call.partition(".")[0], call=call
                    )
                    self.add_file(f"{folder}/{name}", script.encode(), 0o755)
