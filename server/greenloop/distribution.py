"""Which Linux this is, and therefore what installs a package."""

from __future__ import annotations

import re
from pathlib import Path

RELEASE = (Path("/etc/os-release"), Path("/usr/lib/os-release"))
_COMMANDS = {
    "debian": "apt install",
    "ubuntu": "apt install",
    "fedora": "dnf install",
    "rhel": "dnf install",
    "centos": "dnf install",
    "arch": "pacman -S",
    "alpine": "apk add",
    "suse": "zypper install",
    "opensuse": "zypper install",
}
_EVERY = ("apt install", "dnf install", "pacman -S", "apk add", "zypper install")


def release() -> dict[str, str]:
    """The fields of os-release: `ID`, `ID_LIKE`, `VERSION_ID` and the rest; empty where there is no such file."""
    for file in RELEASE:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        return {key: value.strip().strip("\"'") for key, value in re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE)}
    return {}


def install(package: str, **other: str) -> str:
    """The command that installs a package here: `apt install bubblewrap`. Where nobody knows, every command there is.

    `other` gives the package's name for the first word of a command, where it differs: `apt="docker.io"`.
    """
    found = release()
    families = [found.get("ID", ""), *found.get("ID_LIKE", "").split()]
    families = [part for name in families for part in (name, name.partition("-")[0])]
    command = next((_COMMANDS[name] for name in families if name in _COMMANDS), "")
    commands = (command,) if command else _EVERY
    return " or ".join(f"`{each} {other.get(each.split()[0], package)}`" for each in commands)


def restricts_namespaces() -> bool:
    """Is it an Ubuntu whose AppArmor allows user namespaces to named programs alone (24.04 and later)?"""
    found = release()
    number = re.match(r"\d+\.\d+", found.get("VERSION_ID", ""))
    return found.get("ID") == "ubuntu" and number is not None and float(number[0]) >= 24.04
