"""What pytest collects of a file: which functions and classes are tests, by its conventions and the project's own.

It must not know where the text comes from, and it never imports or runs it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from greenloop import sources
from greenloop.syntax import Definition, Outline

# `pytest.fixture`, `pytest_asyncio.fixture(…)`; not a mark whose arguments or name only speak of one.
_FIXTURE = re.compile(r"(?:\w+\.)*(?:yield_)?fixture\b")


@dataclass(frozen=True, kw_only=True)
class Names:
    """pytest's `python_functions` and `python_classes`: beginnings of names, or patterns of whole ones."""

    functions: tuple[str, ...] = ("test",)
    classes: tuple[str, ...] = ("Test",)


USUAL = Names()


def names_of(root: Path) -> Names:
    """Those of a project's pytest configuration."""
    functions, classes = (sources.pytest_option(root, f"python_{kind}") for kind in ("functions", "classes"))
    return Names(functions=tuple(functions) or USUAL.functions, classes=tuple(classes) or USUAL.classes)


def is_test(item: Definition, outline: Outline, names: Names = USUAL) -> bool:
    """Whether a definition of a test file is a test, or a class of tests. Asked of every one at every keystroke."""
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
        # unittest has a convention of its own, whatever pytest is told.
        return item.name.startswith("test")
    return by_name and _is_test_class(owner, outline, names)


def is_stray(item: Definition, outline: Outline) -> bool:
    """A test of unittest's, for a file that pytest does not take for one of tests: code it is none."""
    owner = outline.classes.get(item.owner) if item.owner and item.name.startswith("test") else None
    return owner is not None and _is_unittest(owner, outline.classes)


def _is_test_class(item: Definition, outline: Outline, names: Names) -> bool:
    """One of pytest's own kind."""
    if not _matches(item.name, names.classes) or f"{item.qualname}.__init__" in outline.names:
        return False
    outer = outline.classes.get(item.owner)
    return outer is None or _is_unittest(outer, outline.classes) or _is_test_class(outer, outline, names)


def _is_unittest(item: Definition, classes: Mapping[str, Definition], depth: int = 0) -> bool:
    for base in item.bases:
        last = base.split("[")[0].rpartition(".")[2]
        if last.endswith("TestCase"):
            return True
        parent = classes.get(base)
        if parent is not None and parent is not item and depth < 10 and _is_unittest(parent, classes, depth + 1):
            return True
    return False


def _matches(name: str, wanted: tuple[str, ...]) -> bool:
    return name.startswith(wanted) or any(fnmatchcase(name, each) for each in _patterns(wanted))


@cache
def _patterns(wanted: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in wanted if any(mark in each for mark in "*?["))
