"""The setting of type checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from greenloop.project.settings import setting


@dataclass(frozen=True, kw_only=True)
class TypeSettings:
    """The project's own type checkers and linters: their part in a result."""

    section: ClassVar[str] = "spec"

    types: Literal["report", "require", "off"] = setting(
        "report",
        "New errors of the project's own mypy, pyright or ruff in a result: `report` names them, `require` "
        "rejects the result, `off` skips the check. Only if the project configures these tools.",
    )
