"""Identifies the Linux distribution and its command for installing packages."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable

_COMMANDS = {
    **dict.fromkeys(("debian", "ubuntu"), "apt install"),
    **dict.fromkeys(("fedora", "rhel", "centos"), "dnf install"),
    "arch": "pacman -S",
    "alpine": "apk add",
    **dict.fromkeys(("suse", "opensuse"), "zypper install"),
}
_EVERY = ("apt install", "dnf install", "pacman -S", "apk add", "zypper install")


def read_release(read: Callable[[], dict[str, str]] = platform.freedesktop_os_release) -> dict[str, str]:
    """The fields of os-release (`ID`, `ID_LIKE`, `VERSION_ID` …); empty if the file cannot be read."""
    try:
        return read()
    except (OSError, ValueError):
        return {}


def install_command(package: str, release: dict[str, str] | None = None, **overrides: str) -> str:
    """The command that installs a package here, such as `apt install bubblewrap`; all commands on unknown systems.

    `overrides` gives a different package name for the first word of a command: `apt="docker.io"`.
    """
    fields = read_release() if release is None else release
    families = [fields.get("ID", ""), *fields.get("ID_LIKE", "").split()]
    families = [part for name in families for part in (name, name.partition("-")[0])]
    command = next((_COMMANDS[name] for name in families if name in _COMMANDS), "")
    commands = (command,) if command else _EVERY
    return " or ".join(f"`{template} {overrides.get(template.split()[0], package)}`" for template in commands)


def restricts_namespaces(release: dict[str, str] | None = None) -> bool:
    """Is this an Ubuntu whose AppArmor allows user namespaces only to named programs (24.04 and later)?"""
    fields = read_release() if release is None else release
    version = re.match(r"\d+\.\d+", fields.get("VERSION_ID", ""))
    return fields.get("ID") == "ubuntu" and version is not None and float(version[0]) >= 24.04
