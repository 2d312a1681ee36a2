"""A run of the history that another one goes on with: its attempts count, and nothing of it is asked or run again.

It must not know how a run goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from greenloop.core.errors import UsageError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Verified
from greenloop.engine.history.provenance import Basis, changed_tests
from greenloop.engine.history.store import History
from greenloop.wording.notes import list_some


@dataclass(frozen=True, kw_only=True)
class UnsolvedRun:
    """An unsolved run: its number, workspace and target as typed, its attempts after the user's own code, its basis."""

    number: int
    root: str
    target: str
    preset: str
    attempts: tuple[Attempt, ...]
    basis: Basis

    def why_unfit(self, now: Basis) -> str:
        """A sentence why its attempts say nothing about the project as it is now; empty where they do."""
        then = self.basis
        changed = [*changed_tests(then, now)]
        for old, new in ((then.code, now.code), (then.others, now.others)):
            changed += sorted(path for path in {*old, *new} if old.get(path) != new.get(path))
        if changed:
            return f"{list_some(changed)} changed since run {self.number}"
        if then.spec != now.spec:
            return f"other tests decide than in run {self.number}"
        if (then.version, then.packages) != (now.version, now.packages):
            return f"the interpreter or its packages changed since run {self.number}"
        return ""


def read_unsolved_run(number: int, warn: Callable[[str], None] = lambda _sentence: None) -> UnsolvedRun:
    """Reads a run that may go on. Raises `UsageError` where there is none, or nothing to go on with. Blocking."""
    with History.open(warn=warn) as history:
        record, basis = history.run(number), history.basis(number)
    if record is None:
        raise UsageError(f"There is no run {number}.", remedy="`greenloop history` lists them.")
    if record.state == "running":
        raise UsageError(f"Run {number} is still going on.", remedy="Wait for its end, or cancel it.")
    if record.outcome is not None and record.outcome.solved and record.outcome.verified is Verified.VERIFIED:
        raise UsageError(f"Run {number} is solved.", remedy=f"`greenloop history apply {number}` writes its result.")
    attempts = record.attempts[1:]
    in_order = [attempt.number for attempt in attempts] == list(range(1, len(attempts) + 1))
    if not attempts or not in_order or basis is None:
        raise UsageError(
            f"Run {number} has no attempt to go on with.", remedy=f"Start it again: `greenloop fix {record.target}`."
        )
    return UnsolvedRun(
        number=number,
        root=record.root,
        target=record.target,
        preset=record.preset,
        attempts=tuple(replace(attempt, accepted=False) for attempt in attempts),
        basis=basis,
    )
