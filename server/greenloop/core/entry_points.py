"""Finds the entry points of packages that the user installed into greenloop's environment.

It must not know a workspace: only the folders for packages of the interpreter that runs greenloop are read, neither
the working directory nor PYTHONPATH, and so no repository can register anything.
"""

from __future__ import annotations

import site
from functools import cache
from typing import TYPE_CHECKING, Any

from greenloop.core.errors import SettingsError

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

INSTALL_LABORATORY = "Run `pip install ./lab` in a checkout of greenloop, with the Python that has greenloop."
COMMANDS, PARTS, PRESETS = GROUPS = "greenloop.commands", "greenloop.parts", "greenloop.presets"


def find_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, in the order of their packages' names. Reads every package's metadata, once."""
    return tuple(entry for entry in _entry_points() if entry.group == group)


def load(entry: EntryPoint) -> Any:
    """Imports what an entry point names. Raises `SettingsError` where that fails."""
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        package = entry.dist.name if entry.dist else entry.value
        message = f"The installed package {package} cannot add '{entry.name}' to greenloop: {error}."
        raise SettingsError(message, remedy=f"Update {package}, or uninstall it.") from error


@cache
def _entry_points() -> tuple[EntryPoint, ...]:
    from importlib.metadata import distributions  # noqa: PLC0415 - slow to import, and most runs never need it

    packages: dict[str, Distribution] = {}
    for distribution in distributions(path=_folders()):
        # As in an import, the first of two versions counts.
        packages.setdefault(distribution.name, distribution)
    return tuple(entry for name in sorted(packages) for entry in packages[name].entry_points if entry.group in GROUPS)


def _folders() -> list[str]:
    return [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
