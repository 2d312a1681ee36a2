"""Records a run in the history while it is under way: its start, every attempt, its end.

It must not know who is shown the events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from greenloop.core.events import Event, Tested
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ModelKind
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.usage import PastRun
from greenloop.engine.history.provenance import Basis
from greenloop.engine.history.rows import store_problem
from greenloop.engine.history.store import History


@dataclass(kw_only=True)
class RunRecorder:
    """One run of the history. `emit` passes an event on only after its attempt was stored.

    `number` is the run's number in the history; None where the history cannot be written.
    """

    history: History
    forward: Callable[[Event], None]
    number: int | None = None

    def start(
        self,
        problem: Problem,
        baseline: Attempt,
        target: str,
        *,
        preset: str,
        model: str,
        sandbox: str,
        basis: Basis,
        goal: str,
        kind: ModelKind,
    ) -> None:
        """Stores the run with its problem and the user's own code, and takes its number from the history."""
        self.number = self.history.start_run(
            problem.root, target, preset=preset, model=model, sandbox=sandbox, basis=basis, kind=kind
        )
        self.history.save_problem(self.number, store_problem(problem, goal))
        self.history.save_attempt(self.number, baseline)

    def emit(self, event: Event) -> None:
        if isinstance(event, Tested):
            self.history.save_attempt(self.number, event.attempt)
        self.forward(event)

    def record_first_move(self, *, model: str, preset: str, move: str, prompt: int) -> list[PastRun]:
        """Stores the first move of the run; returns earlier runs that started the same way."""
        past = self.history.similar_runs(model, preset, move)
        self.history.save_start(self.number, move=move, prompt=prompt)
        return past

    def finish(self, outcome: Outcome, basis: Basis | None = None) -> None:
        """Stores the outcome, and the `basis` of the result if it changed since the start of the run."""
        if basis is not None:
            self.history.set_basis(self.number, basis)
        self.history.finish_run(self.number, outcome)
