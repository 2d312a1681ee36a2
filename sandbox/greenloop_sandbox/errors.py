"""The exceptions that a sandbox raises, and their base class.

A failing test, a timeout or a broken run is data (`Execution`), never an exception.
"""

from __future__ import annotations


class GreenloopError(Exception):
    """The base class. `str(error)` is the sentence for the user, `remedy` how to fix it (may be empty).

    `kind` identifies the kind of error for programs.
    """

    exit_code = 1
    kind = "workspace"

    @property
    def advice(self) -> str:
        """The sentence and the remedy."""
        return " ".join(part for part in (str(self), self.remedy) if part)

    def __init__(self, sentence: str, *, remedy: str = "") -> None:
        super().__init__(sentence)
        self.remedy = remedy


class CannotVerifyError(GreenloopError):
    exit_code = 3
    kind = "cannot-verify"


class SandboxBrokenError(CannotVerifyError):
    """`str(error)` includes the reason that the sandbox reported."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The sandbox failed: {reason}", remedy="Run `greenloop doctor`.")
