"""Tells how this greenloop was installed, for the command lines that messages suggest."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

WITH_ENGINE = '"greenloop[local]"'


def own_command(*words: str, prefix: Path | None = None) -> str:
    """The command line that runs greenloop with these words, for the environment in `prefix` (default: this one).

    uvx and `pipx run` make an environment for one use, in which there is no greenloop to type.
    """
    tool = runner(prefix)
    return f"{tool} {WITH_ENGINE} {shlex.join(words[1:])}" if tool else shlex.join(words)


def extra_command(extra: str = "local", prefix: Path | None = None, arguments: Sequence[str] | None = None) -> str:
    """The command that adds the packages of an extra to this greenloop, in the versions that it names.

    It names no greenloop of an index, from which this one need not be. Where a tool makes an environment for one use,
    it is the user's own command line (`arguments`) with the packages.
    """
    wanted = (Requirement(line) for line in metadata.requires("greenloop") or ())
    package = shlex.join(f"{each.name}{each.specifier}" for each in wanted if f'"{extra}"' in str(each.marker))
    arguments, prefix = sys.argv[1:] if arguments is None else arguments, prefix or Path(sys.prefix)
    tool = runner(prefix)
    if tool == "uvx":
        return f"uvx --with {package} greenloop {shlex.join(arguments)}".rstrip()
    if tool:
        return f'{tool} "greenloop[{extra}]" {shlex.join(arguments)}'.rstrip()
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv tool install greenloop --with {package}"
    return (
        f"pipx inject greenloop {package}" if "pipx" in prefix.parts else f"{sys.executable} -m pip install {package}"
    )


def runner(prefix: Path | None = None) -> str:
    """`uvx` or `pipx run`, where that made the environment `prefix` (default: this one) for one use; else nothing."""
    prefix = prefix or Path(sys.prefix)
    if any(part.startswith(("archive-v", "environments-v")) for part in prefix.parts):
        return "uvx"
    is_temporary = "pipx" in prefix.parts and prefix.parent.name != "venvs"
    return "pipx run" if is_temporary else ""
