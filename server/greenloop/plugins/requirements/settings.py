"""Settings of the requirements; each begins where its own is set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from greenloop.project.settings import setting


@dataclass(frozen=True, kw_only=True)
class RequirementSettings:
    """Requirements that a candidate has to satisfy in addition to its tests."""

    section: ClassVar[str] = "spec"

    constraints: list[str] = setting(
        [],
        "Constraints on every candidate, such as `no-imports`, `max-lines 20`, `max-complexity 5`, `forbid eval`, "
        "`signature`, `ruff E,F`.",
        repository="yes",
    )
    trace: str = setting("", "JSONL file of recorded calls that must give the same results; see docs/specs.md.")
    score: str = setting("", "`file.py::function` of the workspace that scores the target from 0 to 1; 1 passes.")
    human: bool = setting(False, "Show you each passing candidate, to accept it or to say what is wrong.")
