"""The setting for tests that are written into the project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from greenloop.project.settings import setting


@dataclass(frozen=True, kw_only=True)
class WrittenTestSettings:
    """Generated tests in the project."""

    section: ClassVar[str] = "spec"

    write: bool = setting(
        False, "Add generated and confirmed tests to the project's test file, in the same edit as the result."
    )
