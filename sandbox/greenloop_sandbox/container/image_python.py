"""Describes the Python of an image: its markers, and the wheels it can install."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass

from greenloop_sandbox.errors import CannotVerifyError

QUERY_PROGRAM = """
import json, platform
asked = (platform.python_version, platform.machine, platform.release, platform.version, platform.libc_ver)
print(json.dumps([ask() for ask in asked]))
"""
# Older tags of the same platforms, by the version of glibc that they require.
_LEGACY = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


@dataclass(frozen=True, kw_only=True)
class ImagePython:
    """`markers` are PEP 508's, `glibc_minor` the minor version of glibc 2 (0: another libc)."""

    markers: Mapping[str, str]
    glibc_minor: int

    @property
    def version(self) -> str:
        return self.markers["python_version"]

    def platforms(self) -> list[str]:
        """The platform tags of wheels that can be installed, newest first."""
        machine = self.markers["platform_machine"]
        tags = []
        for minor in range(self.glibc_minor, 4, -1):
            tags.append(f"manylinux_2_{minor}_{machine}")
            if minor in _LEGACY and (minor == 17 or machine == "x86_64"):
                tags.append(f"{_LEGACY[minor]}_{machine}")
        return [*tags, f"linux_{machine}"]


def default_markers(version: tuple[int, int]) -> dict[str, str]:
    """The markers of greenloop's own images for this Python, as far as they are known without running one."""
    return _markers(f"{version[0]}.{version[1]}.0", platform.machine())


def parse(text: str) -> ImagePython:
    """Parses the output of `QUERY_PROGRAM`. Raises `CannotVerifyError` when it is something else."""
    try:
        *described, (libc, libc_version) = json.loads(text.strip().splitlines()[-1])
        minor = int(libc_version.split(".")[1]) if libc == "glibc" and libc_version.startswith("2.") else 0
        return ImagePython(markers=_markers(*described), glibc_minor=minor)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise CannotVerifyError(f"The image's Python cannot be identified: {text.strip()[-200:]}") from error


def _markers(full_version: str, machine: str, release: str = "", system_version: str = "") -> dict[str, str]:
    return {
        "implementation_name": "cpython", "implementation_version": full_version, "os_name": "posix",
        "platform_machine": machine, "platform_release": release, "platform_system": "Linux",
        "platform_version": system_version, "python_full_version": full_version,
        "platform_python_implementation": "CPython", "python_version": full_version.rpartition(".")[0],
        "sys_platform": "linux",
    }  # fmt: skip
