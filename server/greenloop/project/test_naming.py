"""Decides which definitions are tests, by pytest's conventions and the project's configuration.

This module must not know where the text comes from, and it never imports or runs it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from greenloop.project import sources
from greenloop.project.syntax.definitions import Definition, Outline

# `pytest.fixture`, `pytest_asyncio.fixture(…)`; not a mark whose name or arguments merely contain the word.
_FIXTURE = re.compile(r"(?:\w+\.)*(?:yield_)?fixture\b")


@dataclass(frozen=True, kw_only=True)
class NamingRules:
    """pytest's `python_functions` and `python_classes`: prefixes of names, or glob patterns of whole names."""

    functions: tuple[str, ...] = ("test",)
    classes: tuple[str, ...] = ("Test",)


DEFAULT_NAMES = NamingRules()


def read_names(root: Path) -> NamingRules:
    """Reads the naming rules of a project's pytest configuration."""
    functions, classes = (sources.pytest_option(root, f"python_{kind}") for kind in ("functions", "classes"))
    return NamingRules(
        functions=tuple(functions) or DEFAULT_NAMES.functions, classes=tuple(classes) or DEFAULT_NAMES.classes
    )


def is_test(item: Definition, outline: Outline, names: NamingRules = DEFAULT_NAMES) -> bool:
    """Is a definition in a test file a test, or a class of tests? Called for every definition at every keystroke."""
    if item.kind == "class":
        return _is_unittest(item, outline.classes) or _is_test_class(item, outline, names)
    by_name = _matches(item.name, names.functions)
    if not (by_name or item.name.startswith("test")) or any(_FIXTURE.match(mark) for mark in item.decorators):
        return False
    if not item.owner:
        return by_name
    owner = outline.classes.get(item.owner)
    if owner is None:
        return False
    if _is_unittest(owner, outline.classes):
        # unittest has its own convention, whatever pytest's configuration says.
        return item.name.startswith("test")
    return by_name and _is_test_class(owner, outline, names)


def may_be_test(item: Definition, outline: Outline, names: NamingRules = DEFAULT_NAMES) -> bool:
    """Is it a method with a test's name, of a class whose bases may make it one by a plugin that pytest asks?"""
    owner = outline.classes.get(item.owner) if item.owner else None
    return owner is not None and bool(owner.bases) and item.kind == "function" and _matches(item.name, names.functions)


def is_stray(item: Definition, outline: Outline) -> bool:
    """Is it a unittest test outside a test file, and therefore not code to refine?"""
    owner = outline.classes.get(item.owner) if item.owner and item.name.startswith("test") else None
    return owner is not None and _is_unittest(owner, outline.classes)


def _is_test_class(item: Definition, outline: Outline, names: NamingRules) -> bool:
    """Is it a test class by pytest's own convention?"""
    if not _matches(item.name, names.classes) or f"{item.qualname}.__init__" in outline.names:
        return False
    outer_class = outline.classes.get(item.owner)
    return (
        outer_class is None or _is_unittest(outer_class, outline.classes) or _is_test_class(outer_class, outline, names)
    )


def _is_unittest(item: Definition, classes: Mapping[str, Definition], depth: int = 0) -> bool:
    for base in item.bases:
        base_name = base.split("[")[0].rpartition(".")[2]
        if base_name.endswith("TestCase"):
            return True
        parent = classes.get(base)
        if parent is not None and parent is not item and depth < 10 and _is_unittest(parent, classes, depth + 1):
            return True
    return False


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return name.startswith(patterns) or any(fnmatchcase(name, each) for each in _glob_patterns(patterns))


@cache
def _glob_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in patterns if any(mark in each for mark in "*?["))
