"""Finds the entry points in greenloop's environment: of its own plugins, and of packages that the user installed.

It must not know a workspace: only the folders for packages of the interpreter that runs greenloop are read, and the
folder where greenloop itself lies; neither the working directory nor PYTHONPATH, so no repository can register
anything.
"""

from __future__ import annotations

import importlib
import os
import site
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from greenloop.core.errors import SettingsError

INSTALL_LABORATORY = "Run `pip install ./lab` in a checkout of greenloop, with the Python that has greenloop."
OWN = "greenloop"
# The groups, one for each kind of thing that a package may add; docs/extending.md says what an entry names.
AIMS = "greenloop.aims"
COMMANDS = "greenloop.commands"
PARTS = "greenloop.parts"
PRESETS = "greenloop.presets"
SETTINGS = "greenloop.settings"
TARGET_ADAPTERS = "greenloop.target_adapters"
TARGET_KINDS = "greenloop.target_kinds"
STATED_EXAMPLES = "greenloop.stated_examples"
REQUIREMENTS = "greenloop.requirements"
CHANGE_MAKERS = "greenloop.change_makers"
CONVERSATIONS = "greenloop.conversations"
INCOMPLETE_CODE = "greenloop.incomplete_code"
GENERATED_TESTS = "greenloop.generated_tests"
KNOWN_TESTS = "greenloop.known_tests"
LOCAL_MODELS = "greenloop.local_models"
LSP_FEATURES = "greenloop.lsp_features"
OUTPUTS = "greenloop.outputs"
BEYOND_TESTS = "greenloop.beyond_tests"
SERVICES = "greenloop.services"
TEST_WRITERS = "greenloop.test_writers"
ENVIRONMENT_FAULTS = "greenloop.environment_faults"
DOCTOR = "greenloop.doctor"
VERIFY_ANSWERS = "greenloop.verify_answers"
VERIFY_TARGETS = "greenloop.verify_targets"
IPYTHON_EXTENSIONS = "greenloop.ipython_extensions"


@dataclass(frozen=True, kw_only=True)
class EntryPoint:
    """`value` is a module, or `module:name`; `package` has registered it."""

    package: str
    group: str
    name: str
    value: str


def find_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group: those of greenloop itself, then the others, in the order of their packages."""
    return tuple(entry for entry in (*own_entry_points(), *_others()) if entry.group == group)


def load(entry: EntryPoint) -> Any:
    """Imports what an entry point names. Raises `SettingsError` where that fails."""
    module, _, name = entry.value.partition(":")
    try:
        loaded = importlib.import_module(module)
        return getattr(loaded, name) if name else loaded
    except (ImportError, AttributeError) as error:
        message = f"The installed package {entry.package} cannot add '{entry.name}' to greenloop: {error}."
        raise SettingsError(message, remedy=f"Update {entry.package}, or uninstall it.") from error


def load_all(group: str) -> tuple[Any, ...]:
    """Everything that is registered in a group, in the order of `find_entry_points`."""
    return tuple(load(entry) for entry in find_entry_points(group))


@cache
def own_entry_points() -> tuple[EntryPoint, ...]:
    """Those of greenloop's own distribution, of every group."""
    here = str(Path(__file__).resolve().parents[2])
    return next((tuple(_read(path)) for path in _metadata([here, *_folders()]) if _package(path) == OWN), ())


@cache
def _others() -> tuple[EntryPoint, ...]:
    packages: dict[str, str] = {}
    for path in _metadata(_folders()):
        # As in an import, the first of two versions counts.
        packages.setdefault(_package(path), path)
    packages.pop(OWN, None)
    return tuple(entry for name in sorted(packages) for entry in _read(packages[name]))


def _metadata(folders: list[str]) -> Iterator[str]:
    """The folders with packages' metadata, as pip leaves them. Read by hand: importlib.metadata is slow to import."""
    for folder in folders:
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else ()  # noqa: PTH112, PTH208 - for speed
        yield from (f"{folder}/{name}" for name in names if name.endswith((".dist-info", ".egg-info")))


def _package(path: str) -> str:
    name = path.rpartition("/")[2].rpartition(".")[0]
    return name.partition("-")[0].lower().replace("_", "-")


def _read(path: str) -> Iterator[EntryPoint]:
    try:
        with open(f"{path}/entry_points.txt", "rb") as file:  # noqa: PTH123 - for speed
            data = file.read()
        text = data.decode() if b"[greenloop." in data else ""
    except (OSError, UnicodeDecodeError):
        return
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]")
        elif group.startswith("greenloop.") and "=" in line and not line.startswith(("#", ";")):
            name, _, value = map(str.strip, line.partition("="))
            yield EntryPoint(package=_package(path), group=group, name=name, value=value.partition("[")[0].strip())


def _folders() -> list[str]:
    return [*site.getsitepackages(), *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])]
