"""Finds parts by file name: `registry.load_part("feedback", "raw")` is raw.py in the package of feedback.

There is no list to edit: each new file in a part's folder is a new variant. An installed package adds a folder to
those of a part by an entry point of the group `greenloop.parts`, such as `feedback = "my_package.feedback"`; a
variant of greenloop's own goes first.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from greenloop.core import entry_points
from greenloop.core.errors import SettingsError
from greenloop.core.text.similar import closest

# The package with the variants of each part.
PACKAGES = {
    "context": "greenloop.drafting.context",
    "feedback": "greenloop.drafting.feedback",
    "search": "greenloop.drafting.search",
    "models": "greenloop.models.providers",
    "sandboxes": "greenloop_sandbox.backends",
}


def list_parts(part: str) -> list[str]:
    """All variants of a part, by file name; modules with a leading underscore are shared by variants."""
    return sorted({*_own(part), *_find_installed(part)})


def has_part(part: str, name: str) -> bool:
    """Is there a variant of this name?"""
    return _module_name(part, name) is not None


def load_part(part: str, name: str) -> ModuleType:
    """The module of a variant. Raises `SettingsError` with the nearest names where there is none."""
    module_name = _module_name(part, name)
    if module_name is None:
        names = list_parts(part)
        near = closest(name, names) or ", ".join(names)
        raise SettingsError(f"There is no {part} part named '{name}'.", remedy=f"Choose one of: {near}.")
    return importlib.import_module(module_name)


def _module_name(part: str, name: str) -> str | None:
    """The module of a variant; other packages are asked only for a name that greenloop itself does not have."""
    return _own(part).get(name) or _find_installed(part).get(name)


def _own(part: str) -> dict[str, str]:
    """The module of each variant of greenloop's own, by the variant's name; some parts have only those of others."""
    return _modules([importlib.import_module(PACKAGES[part])] if part in PACKAGES else [])


def _find_installed(part: str) -> dict[str, str]:
    """The module of each variant of other packages, by the variant's name."""
    entries = [
        entry for entry in entry_points.find_entry_points(entry_points.PARTS) if entry.name.partition(".")[0] == part
    ]
    return _modules([entry_points.load(entry) for entry in entries])


def _modules(packages: list[ModuleType]) -> dict[str, str]:
    return {
        module.name: f"{package.__name__}.{module.name}"
        for package in packages
        for module in pkgutil.iter_modules(package.__path__)
        if not module.ispkg and not module.name.startswith("_")
    }
