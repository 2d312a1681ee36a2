"""Annotations: what a verification or a fix has to say about single lines, before it is written in any format."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from greenloop.core.errors import GreenloopError
from greenloop.core.feature_data import show
from greenloop.core.python.ast_source import find_definitions, parse_module
from greenloop.core.text.encoding import decode


class Level(StrEnum):
    """Severity of an annotation, most serious first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


# What each rule stands for, in one sentence; a rule's name is part of the interface and never changes.
RULES: Mapping[str, str] = {
    "tampered": "A pass is exposed by a forged report or other inputs, or depends on noticing that it is tested.",
    "test-failed": "A test that must pass fails.",
    "test-still-fails": "A test fails as it did with the commit's own code.",
    "test-known-failing": "A test that is known to fail fails as it did before.",
    "not-verified": "Nothing is verified, for a reason unrelated to a single test.",
    "tests-changed": "The commit's version of a test or of its configuration was used instead of this one.",
    "other-inputs": "The code behaves differently than before on an input that no test has.",
    "unnoticed": "The tests would also accept another token here.",
    "suspicious-line": "The failing tests execute this line, and it may be at fault.",
    "not-fixed": "No attempt made the test pass.",
    "fixed": "A result makes the test pass; it is attached as a fix.",
    "attempt-failed": "An attempt that did not pass, with its error.",
    "attempt-tampered": "An attempt whose pass was not honest.",
}


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """A remark on a line. `path` is relative to the workspace ("": none); `line` counts from 1 (0: the whole file).

    `case` is the test that it belongs to. `changes` are texts before and after by path, of a result that is offered.
    """

    rule: str
    level: Level
    message: str
    path: str = ""
    line: int = 0
    end_line: int = 0
    case: str = ""
    changes: Mapping[str, tuple[str | None, str]] = field(default_factory=dict)


def annotate_open(data: Mapping[str, Any]) -> list[Annotation]:
    """Notes on what the tests of a green result leave open."""
    remarks = [remark for shown in show(data) for remark in shown.remarks]
    return [
        Annotation(rule=each.rule, level=Level.NOTE, message=each.message, path=each.path, line=each.line)
        for each in remarks
    ]


def by_severity(annotations: Sequence[Annotation]) -> list[Annotation]:
    """The most serious first, because some readers show only the first few."""
    return sorted(annotations, key=lambda each: list(Level).index(each.level))


def find_test(root: Path, case: str) -> tuple[str, int]:
    """The path of a case's file and the line of its function there; 0 where it is not found."""
    path, _colons, name = case.partition("::")
    wanted = name.partition("[")[0].replace("::", ".")
    return path, next((node.lineno for found, node in _definitions(root / path) if found == wanted), 0)


def _definitions(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    try:
        module = parse_module(decode(path.read_bytes())[0])
    except (OSError, GreenloopError):
        return
    if isinstance(module, ast.Module):
        yield from find_definitions(module.body)
