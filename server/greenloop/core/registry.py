"""Finds parts by file name: `registry.load("feedback", "raw")` is raw.py in the package of feedback.

There is no list to edit: each new file in a part's folder is a new variant.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from types import ModuleType

from greenloop.core.errors import SettingsError

# The package with the variants of each part.
PACKAGES = {
    "specs": "greenloop.specs.kinds",
    "context": "greenloop.drafting.context",
    "feedback": "greenloop.drafting.feedback",
    "search": "greenloop.drafting.search",
    "trust": "greenloop.specs.trust",
    "models": "greenloop.models.providers",
    "sandboxes": "greenloop.sandboxes.backends",
}

# The one public function (or class factory) that a module of each folder must have.
CONTRACTS = {
    "specs": "collect",
    "context": "gather",
    "feedback": "describe",
    "search": "plan",
    "trust": "rule",
    "models": "create",
    "sandboxes": "create",
}


def list_parts(part: str) -> list[str]:
    """All variants of a part, by file name; modules with a leading underscore are shared by variants."""
    package = importlib.import_module(PACKAGES[part])
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_"))


def load_part(part: str, name: str) -> ModuleType:
    """The module of a variant. Raises `SettingsError` with the nearest names where there is none."""
    if name not in list_parts(part):
        near = difflib.get_close_matches(name, list_parts(part), n=1) or list_parts(part)
        raise SettingsError(f"There is no {part} part named '{name}'.", remedy=f"Choose one of: {', '.join(near)}.")
    return importlib.import_module(f"{PACKAGES[part]}.{name}")
