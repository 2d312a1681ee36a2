"""Completes code that tests cannot run yet (`localize/incomplete_code.py`): stubs, and modules that can be imported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from greenloop.localize.incomplete_code import Stubs
from greenloop.localize.regions import TextOf
from greenloop.plugins.repairs.importable import measure_completed
from greenloop.plugins.repairs.missing_names import find_missing
from greenloop.plugins.repairs.stubs import add_stubs
from greenloop_sandbox import Failure

__all__ = ["find_stubs", "measure_completed"]


def find_stubs(
    failures: Sequence[Failure],
    text_of: TextOf,
    root: Path,
    test_path: str,
    *,
    patterns: Sequence[str] | None = None,
) -> Stubs | None:
    """Returns stubs for the names that must be written first; None where the failures have another cause."""
    missing = find_missing(failures, text_of, root, test_path, patterns=patterns)
    stubs = add_stubs(missing, text_of) if missing is not None else None
    return stubs if stubs and stubs[1] else None
