"""The result of a run, and the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import Usage

LEAST_CHANGES = 5  # of fewer one-token changes no share is believed


class Verified(StrEnum):
    """Level of proof of a result; only `VERIFIED` is ever applied automatically."""

    VERIFIED = "verified"
    PARTIALLY = "partially"
    UNVERIFIED = "unverified"


class StopReason(StrEnum):
    """Reason why a run ended. `INTERRUPTED`: its process ended during the run, as the history shows later."""

    SOLVED = "solved"
    ALREADY_GREEN = "already-green"
    STALLED = "stalled"
    ATTEMPTS = "attempts"
    SECONDS = "seconds"
    TOKENS = "tokens"
    COST = "cost"
    ANSWERS = "answers"
    CANCELLED = "cancelled"
    ENVIRONMENT = "environment"
    MODEL = "model"
    CHANGED = "changed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, kw_only=True)
class Survivor:
    """A one-token change of a result that no test noticed: the line that it is in, and what was replaced by what."""

    path: str
    line: int
    change: str


@dataclass(frozen=True, kw_only=True)
class Noticed:
    """One-token changes of a result that one of its `tests` tests noticed: `killed` of `tried`.

    `survivors` are the others, `left` counts those that there was no time for, and `unreached` are lines of the result,
    by path, that no test runs; they are not changed. `least` is the share that is asked for.
    """

    tests: int = 0
    tried: int = 0
    killed: int = 0
    left: int = 0
    survivors: tuple[Survivor, ...] = ()
    unreached: tuple[tuple[str, int], ...] = ()
    least: float = 0.0

    @property
    def share(self) -> float | None:
        """Share of the changes that were noticed, 0..1; None where nothing was tried."""
        return self.killed / self.tried if self.tried else None

    @property
    def is_little(self) -> bool:
        """Is it less than is asked for? Of very few changes no share is believed."""
        return self.tried >= LEAST_CHANGES and self.killed < self.least * self.tried


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The evidence for an accepted candidate, as counts. `network`: tests had network access.

    Of the related tests (neighbours), those `not_affected` never reach the changed functions and were not run again.
    `proofs` has, by case id, what shows that a pass was earned: `apart` (the changed code ran in a process of its own),
    `fails with wrong results` (the pass rested on more than values). `unproven` has the reason for each of the user's
    cases where nothing could show it; `vetoed` are those of them that pass for another reason. `together` has it for
    those that passed before, and that cannot be put apart with the user's own code either. `data` is
    that of the accepted verdict, by requirement, and of the checks beyond the tests (`core/feature_data.py`).
    `also_fixed` are related tests that failed before and pass now; `still_red` those that fail for the same cause as
    the target did, and still do; `flaky` failed, and passed when they ran again.
    """

    sandbox: str = ""
    network: bool = False
    cases: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # provenance -> (passed, total)
    neighbours_unchanged: int = 0
    neighbours_not_affected: int = 0
    neighbours_already_failing: int = 0
    neighbours_left_out: int = 0
    neighbours_flaky: int = 0
    proofs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unproven: Mapping[str, str] = field(default_factory=dict)
    vetoed: tuple[str, ...] = ()
    together: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    also_fixed: tuple[str, ...] = ()
    still_red: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a run. `before`/`after` are whole texts by path; `before` None means that the file is new.

    `run` is its number in the history, where the history could be written. `withdrawn` is what a question used, of all
    the usage, that was sent ahead and whose answer was not needed.
    """

    solved: bool
    verified: Verified
    reason: StopReason
    message: str
    attempts: Sequence[Attempt]
    best: int | None = None
    before: Mapping[str, str | None] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    usage: Usage = Usage()
    withdrawn: Usage = Usage()
    evidence: Evidence = Evidence()
    run: int | None = None
