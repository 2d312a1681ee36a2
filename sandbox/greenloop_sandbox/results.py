"""Results of single cases: their outcomes and failures, as the records of a run say them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One line of a traceback. `path` is relative to the workspace for files in it, else absolute."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, kw_only=True)
class Failure:
    """The failure of a case. `text` is the runner's full output; `expected`/`observed` are reprs where known."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    text: str = ""
    expected: str | None = None
    observed: str | None = None


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """The outcome of one case: passed, failed, error (not in the call phase), skipped, xfailed, xpassed or missing.

    `share`: the score of a case that did not pass (0..1).
    """

    id: str
    outcome: str
    failure: Failure | None = None
    seconds: float = 0.0
    share: float = 0.0

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"
