"""Wheels as files of an image: unpacked into one tar archive for `/`, as an installer would lay them."""

from __future__ import annotations

import configparser
import io
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from greenloop.container.facts import Facts
from greenloop.core.errors import CannotVerify

MOST_BYTES = 8 << 30  # unpacked; a wheel that is a bomb must not fill the disk
_SCRIPT = """#!{python}
import sys
from {module} import {first}
if __name__ == "__main__":
    sys.exit({call}())
"""


class Layer:
    """A tar archive being written, for folders of a Python that `facts` describes."""

    def __init__(self, file: Path, facts: Facts) -> None:
        self.facts, self.written = facts, 0
        self._tar = tarfile.open(file, mode="w")  # noqa: SIM115 - closed by `close`
        self._folders: set[str] = set()

    def close(self) -> None:
        """Ends the archive."""
        self._tar.close()

    def add(self, wheels: Iterable[Path], target: str = "") -> None:
        """Unpacks wheels; `target` is a folder that takes all of them in place of the Python's own folders.

        Raises `CannotVerify` for a file that is no wheel or would leave its folder.
        """
        for wheel in wheels:
            try:
                with zipfile.ZipFile(wheel) as archive:
                    self._unpack(wheel, archive, target)
            except (zipfile.BadZipFile, ValueError, OSError, RuntimeError) as error:
                raise CannotVerify(f"{wheel.name} cannot be unpacked: {error}") from error

    def put(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """One file, by its absolute path."""
        self.written += len(data)
        if self.written > MOST_BYTES:
            raise CannotVerify(f"The project's packages take more than {MOST_BYTES >> 30} GiB.")
        parts = PurePosixPath(path.lstrip("/"))
        for folder in reversed(parts.parents):
            if str(folder) not in {".", *self._folders}:
                self._folders.add(str(folder))
                member = tarfile.TarInfo(str(folder))
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                self._tar.addfile(member)
        member = tarfile.TarInfo(str(parts))
        member.size, member.mode = len(data), mode
        self._tar.addfile(member, io.BytesIO(data))

    def _unpack(self, wheel: Path, archive: zipfile.ZipFile, target: str) -> None:
        paths = self.facts.paths
        if target:
            paths = {scheme: target if scheme.endswith("lib") else f"{target}/.{scheme}" for scheme in paths}
        for info in archive.infolist():
            if info.is_dir():
                continue
            name = PurePosixPath(info.filename)
            if name.is_absolute() or ".." in name.parts or "\\" in info.filename:
                raise ValueError(f"it holds {info.filename!r}")
            data, mode = archive.read(info), 0o644
            scheme, place = "purelib", name
            if name.parts[0].endswith(".data") and len(name.parts) > 2:
                scheme, place = name.parts[1], PurePosixPath(*name.parts[2:])
            if scheme == "headers":
                scheme, place = "include", PurePosixPath(wheel.name.partition("-")[0], place)
            if scheme == "scripts":
                mode = 0o755
                if data.startswith(b"#!python"):
                    data = b"#!" + self.facts.executable.encode() + data[data.find(b"\n") :]
            elif info.external_attr >> 16 & 0o111:
                mode = 0o755
            if scheme not in paths:
                raise ValueError(f"it has files for {scheme!r}")
            self.put(f"{paths[scheme]}/{place}", data, mode)
            if name.name == "entry_points.txt" and len(name.parts) == 2 and name.parts[0].endswith(".dist-info"):
                self._scripts(data.decode("utf-8", "replace"), paths["scripts"])

    def _scripts(self, text: str, folder: str) -> None:
        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        try:
            parser.read_string(text)
        except configparser.Error:
            return
        for section in ("console_scripts", "gui_scripts"):
            for name, value in parser.items(section) if parser.has_section(section) else ():
                module, _, call = value.partition("[")[0].strip().partition(":")
                safe = name.replace("-", "").replace(".", "").replace("_", "").isalnum()
                if call and safe:
                    script = _SCRIPT.format(
                        python=self.facts.executable, module=module.strip(), first=call.partition(".")[0], call=call
                    )
                    self.put(f"{folder}/{name}", script.encode(), 0o755)
