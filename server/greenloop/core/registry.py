"""Finds parts by file name: `registry.load_part("feedback", "raw")` is raw.py in the package of feedback.

There is no list to edit: each new file in a part's folder is a new variant.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from types import ModuleType

from greenloop.core.errors import SettingsError

# The packages with the variants of each part; `published` holds those of published systems.
PACKAGES: dict[str, tuple[str, ...]] = {
    "specs": ("greenloop.specs.kinds",),
    "context": ("greenloop.drafting.context",),
    "feedback": (
        "greenloop.drafting.feedback",
        "greenloop.drafting.feedback.planners",
        "greenloop.drafting.feedback.published",
    ),
    "search": ("greenloop.drafting.search", "greenloop.drafting.search.published"),
    "trust": ("greenloop.specs.trust", "greenloop.specs.trust.published"),
    "models": ("greenloop.models.providers",),
    "looks": ("greenloop.engine.looks",),
    "sandboxes": ("greenloop.sandboxes.backends",),
    "export": ("greenloop.engine.history.formats",),
}


def list_parts(part: str) -> list[str]:
    """All variants of a part, by file name; modules with a leading underscore are shared by variants."""
    return sorted(_packages(part))


def load_part(part: str, name: str) -> ModuleType:
    """The module of a variant. Raises `SettingsError` with the nearest names where there is none."""
    packages = _packages(part)
    if name not in packages:
        near = difflib.get_close_matches(name, sorted(packages), n=1) or sorted(packages)
        raise SettingsError(f"There is no {part} part named '{name}'.", remedy=f"Choose one of: {', '.join(near)}.")
    return importlib.import_module(f"{packages[name]}.{name}")


def _packages(part: str) -> dict[str, str]:
    """The package of each variant, by the variant's name."""
    return {
        module.name: package
        for package in PACKAGES[part]
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__)
        if not module.ispkg and not module.name.startswith("_")
    }
