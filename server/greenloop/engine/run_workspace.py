"""The user's files during a run: how they go into a sandbox, whether they are still the same, and what rests on them.

It must not know how candidates are made or judged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from greenloop.core import entry_points
from greenloop.core.errors import BaselineChangedError
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.engine.history import provenance
from greenloop.engine.timing import Stopwatch, TimedSession
from greenloop.localize.context import BaselineContext
from greenloop.project import workspace
from greenloop.verdict.case_runs import Files
from greenloop_sandbox import Sandbox, Session


@dataclass(kw_only=True)
class RunWorkspace:
    """The workspace of one run; `trusted` is the fingerprint of the user's tests and their configuration."""

    context: BaselineContext
    sandbox: Sandbox
    trusted: str
    watch: Stopwatch = field(default_factory=Stopwatch)

    async def ensure_unchanged(self) -> None:
        """Raises `BaselineChangedError` where the user's tests or their configuration are not those of the baseline."""
        snapshot = self.context.snapshot
        if await asyncio.to_thread(workspace.fingerprint, snapshot.root, snapshot.buffers) != self.trusted:
            raise BaselineChangedError(
                "The tests or their configuration changed during the run.", remedy="Start the run again."
            )

    async def open_session(self) -> Session:
        """Opens one more sandbox, whose time counts."""
        with self.watch:
            return TimedSession(await self.sandbox.open(self.context.place), self.watch)

    def encode(self, files: Files) -> dict[str, bytes]:
        """Returns the texts in the encodings of their files."""
        return {path: self.context.snapshot.encoded(path, text) for path, text in files.items()}

    async def with_tests(self, outcome: Outcome, problem: Problem) -> Outcome:
        """Adds the generated tests to the project's test file, if a plugin writes them."""
        snapshot = self.context.snapshot
        if not (outcome.solved and outcome.after and problem.regions):
            return outcome
        for writer in entry_points.load_all(entry_points.TEST_WRITERS):
            tests = writer(
                settings=self.context.settings,
                problem=problem,
                text_of=snapshot.text,
                open_session=self.open_session,
                files={**problem.buffers, **self.encode(outcome.after)},
                encode=snapshot.encoded,
            )
            outcome = await tests.add_to(outcome)
        return outcome

    def own_code(self, problem: Problem) -> dict[str, bytes]:
        """Returns the files of the user's own code, with stubs, that differ from the disk."""
        stubs = {path: text for path, text in problem.files.items() if problem.originals.get(path) != text}
        return {**problem.buffers, **self.encode(stubs)}

    async def basis(self, problem: Problem, outcomes: Mapping[str, str]) -> provenance.Basis:
        """Returns what the result of the run rests on."""
        return await asyncio.to_thread(provenance.run_basis, self.context.place, problem, outcomes)
