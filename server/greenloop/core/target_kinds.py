"""The port for kinds of targets that are neither tests nor functions: `KIND:TEXT`.

An entry point of the group `greenloop.target_kinds`, named like the kind, names a module with
`async prepare(start) -> PreparedTarget`, and maybe `async describe(start) -> str`: one sentence about what may be fixed
though every test passes, asked for where the project `is_configured(root)` for the kind. It must not know any kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.core import entry_points
from greenloop.core.records.spec import Region, Target
from greenloop_sandbox import SandboxSpec, Session


@dataclass(frozen=True, kw_only=True)
class TargetStart:
    """The beginning of a run: the text behind the kind, the user's texts, and an open sandbox.

    `longest` are the most seconds that a test may take.
    """

    text: str
    root: Path
    buffers: Mapping[str, bytes]
    text_of: Callable[[str], str | None]
    session: Session
    place: SandboxSpec
    report_status: Callable[[str], None]
    longest: float


@dataclass(frozen=True, kw_only=True)
class PreparedTarget:
    """A target that is a test of the plugin's own: its text exists in the sandbox alone, and runs none of the code.

    `name` is the target as a user may type it, `regions` are to be changed. `why_refused` gets the user's texts and a
    candidate's, and returns why that is no honest solution ("": it may be one).
    """

    name: str
    target: Target
    text: str
    regions: tuple[Region, ...]
    why_refused: Callable[[Mapping[str, str | None], Mapping[str, str]], str]


def find_target_kind(text: str) -> tuple[Any, str] | None:
    """The module of the kind that a typed target names, and the rest of the text; None for any other target."""
    kind, colon, rest = text.partition(":")
    if not colon or not kind.isidentifier() or rest.startswith((":", "/", "\\")):
        return None
    entries = entry_points.find_entry_points(entry_points.TARGET_KINDS)
    entry = next((each for each in entries if each.name == kind), None)
    return (entry_points.load(entry), rest) if entry else None
