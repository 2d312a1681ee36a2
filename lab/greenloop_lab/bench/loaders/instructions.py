"""Instruction tasks: functions to write or to change that also have to keep limits, in the words of `spec.constraints`.

After CodeIF (arXiv 2502.19166), where each part of an instruction can be checked; the engine gets the limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from greenloop.core.errors import SettingsError, UsageError
from greenloop.core.requirements import load_requirement
from greenloop_lab.bench.loaders import functions
from greenloop_lab.bench.tasks import Task, read_rows

REMEDY = 'A line is that of file:FILE with constraints, such as ["no-imports", "max-lines 20"]; see docs/specs.md.'


def load(path: Path, *, shown: int = 1) -> list[Task]:
    """The tasks of a file. Raises `UsageError` naming the first line that is not one."""
    return [
        functions.parse_row(row, path, number, shown=shown, **_fields(row, path, number))
        for number, row in read_rows(path)
    ]


def _fields(row: Mapping[str, Any], path: Path, number: int) -> dict[str, Any]:
    words = row.get("constraints")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise UsageError(f"Line {number} of {path}: 'constraints' must be a list of at least one text.", remedy=REMEDY)
    try:
        limits = load_requirement("constraints").parse(words)
    except SettingsError as error:
        raise UsageError(f"Line {number} of {path}: {error}", remedy=error.remedy or REMEDY) from error
    return {
        "kind": f"instruction, {len(limits)} limit{'s' * (len(limits) > 1)}",
        "constraints": tuple(limit.source for limit in limits),
    }
