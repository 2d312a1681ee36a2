"""Settings of generated tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from greenloop.project.settings import setting


@dataclass(frozen=True, kw_only=True)
class WrittenTestSettings:
    """Generated tests, also in the project."""

    section: ClassVar[str] = "spec"

    design: Literal["auto", "always", "never"] = setting(
        "auto",
        "Let the model write tests from a docstring: `auto`: for an unimplemented function that none of your tests "
        "calls; `always`; `never`.",
    )
    noticed: float = setting(
        0.5,
        "Share of one-token changes to the model's first answer that generated tests should notice; tests "
        "that notice less are written once more. 0: not measured, which saves up to four seconds.",
        least=0,
        most=1,
    )
    write: bool = setting(
        False, "Add generated and confirmed tests to the project's test file, in the same edit as the result."
    )
