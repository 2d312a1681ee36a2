"""Results of past runs that can be verified again, here or on another machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.outcome import Outcome
from greenloop.engine.history.provenance import Basis
from greenloop.engine.history.rows import StoredRun
from greenloop.notebook import past_runs


@dataclass(frozen=True, kw_only=True)
class Use:
    """Intended use of a result: the verb in a sentence, and the remedies for a notebook and for an old run."""

    verb: str
    instead_of_notebook: str
    instead_of_old: str


def require_result(record: StoredRun, basis: Basis | None, use: Use) -> tuple[Outcome, Basis]:
    """Returns the result of a run and what it depends on.

    Raises `UsageError` for a run without a result, `CannotVerifyError` where it depends on what is no longer known.
    """
    number, outcome = record.id, record.outcome
    if outcome is None or not outcome.solved or not outcome.after:
        raise UsageError(
            f"Run {number} has no result that could be {use.verb}.", remedy=f"See `greenloop history show {number}`."
        )
    if past_runs.target_title(Path(record.root), record.target) != record.target:
        raise CannotVerifyError(
            f"Run {number} was made in a notebook, whose tests exist during a run only.",
            remedy=use.instead_of_notebook,
        )
    if basis is None or not basis.spec.cases:
        raise CannotVerifyError(
            f"Run {number} was recorded by an older greenloop, which did not store what its result depends on.",
            remedy=use.instead_of_old,
        )
    return outcome, basis
