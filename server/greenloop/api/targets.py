"""Targets in files: what the user may point at, and what an editor lists. Light: a parser, nothing of the engine."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.spec import Target
from greenloop.project import sources, test_naming
from greenloop.project.sources import is_test_file, list_test_files
from greenloop.project.syntax.definitions import Definition
from greenloop.project.syntax.definitions import enclosing_definition as definition_at
from greenloop.project.targets import (
    Heading,
    find_target,
    list_headings,
    target_at,
)
from greenloop.project.test_naming import NamingRules
from greenloop.project.typed_targets import parse_target, relative_path, split_target


def read_conventions(root: Path) -> tuple[tuple[str, ...], NamingRules]:
    """The patterns of a project's test files, and the names of the tests in them, as its pytest is configured."""
    return tuple(sources.file_patterns(root)), test_naming.read_names(root)


def may_have_targets(path: str) -> bool:
    """May a file of the workspace have tests or functions to refine?"""
    return path.endswith(".py") and not sources.is_shared_setup(path)


def is_unwritten(target: Target, text: str) -> bool:
    """Is the body of a function still to be written?"""
    from greenloop.localize import regions  # noqa: PLC0415 - most callers only find targets

    return regions.is_unwritten(target.region, {target.path: text}.get)


def has_unwritten_methods(target: Target, text: str) -> bool:
    """Are some methods of a class still to be written?"""
    from greenloop.localize import unwritten  # noqa: PLC0415 - as above

    return bool(unwritten.members(target.region, text))


def example_selectors(function: Target, text: str) -> tuple[str, ...]:
    """The selectors of the examples in a function's docstring."""
    from greenloop.specs import doctest  # noqa: PLC0415 - as above

    return doctest.examples(function, text).selectors
