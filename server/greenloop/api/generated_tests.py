"""The tests that are made from docstrings: where the user edits them, and what the user struck out of them.

Without the plugin that makes them there are none.
"""

from __future__ import annotations

from pathlib import Path

from greenloop.core.generated_tests import find_generator


def has_stored(root: Path, path: str, qualname: str) -> bool:
    """Are tests of this function stored?"""
    generator = find_generator()
    return generator is not None and generator.stored_path(root, path, qualname).exists()


def struck_lines(root: Path, path: str, qualname: str) -> tuple[str, ...]:
    """The lines that show what the user struck out, without checking whether the function changed."""
    generator = find_generator()
    return generator.struck_lines(root, path, qualname) if generator is not None else ()
