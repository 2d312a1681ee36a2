"""The setting for tests that run when a file is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from greenloop.project.settings import setting


@dataclass(frozen=True, kw_only=True)
class TestRunSettings:
    """The tests that run without a request."""

    section: ClassVar[str] = "editor"

    save: Literal["off", "affected"] = setting(
        "off",
        "Tests to run in the sandbox when a file is saved: `affected`: those whose last run executed it; `off`: none.",
    )
