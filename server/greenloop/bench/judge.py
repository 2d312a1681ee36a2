"""Judges candidates by tests that the engine never saw, in the sandbox, whoever made them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from greenloop import engine, proofs, walls
from greenloop.bench.tasks import Task
from greenloop.core.nouns import Run, Status
from greenloop.core.ports import Session
from greenloop.core.verdict import judge
from greenloop.keeper import Keeper
from greenloop.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """How many of the judging cases pass, of how many, whether that is a pass, and whether the shown ones pass."""

    right: bool
    shown: bool
    passed: int
    total: int


# A busy machine is no reason for another judgement: what is right gets this many times the time of a test run.
SLOWER = 4
WRONG = Judgement(right=False, shown=False, passed=0, total=0)  # without a run


@dataclass(kw_only=True)
class Judge:
    """The judge of one task. Texts that were judged once are not run again."""

    task: Task
    root: Path
    settings: Settings
    keeper: Keeper
    known: dict[str, Judgement] = field(default_factory=dict)

    async def __call__(self, texts: Mapping[str, str]) -> Judgement:
        """`texts` are whole files by path, laid over the task. Raises `CannotVerify` where no sandbox can be used."""
        name = json.dumps(sorted(texts.items()))
        if name not in self.known:
            place = await engine.place_of(self.root, self.settings)
            _sandbox, session = await walls.opened(place, self.settings, engine.quiet, self.keeper)
            try:
                self.known[name] = await self._run(session, texts)
            finally:
                await self.keeper.release(session)
        return self.known[name]

    async def _run(self, session: Session, texts: Mapping[str, str]) -> Judgement:
        laid = {**self.task.files, **texts, **self.task.judge}
        cases, shown = list(self.task.cases), list(self.task.shown)
        run = Run(
            selectors=proofs.selectors(list(dict.fromkeys([*cases, *shown]))),
            files={path: text.encode() for path, text in laid.items()},
            seconds=max(SLOWER * self.settings.sandbox.seconds, self.settings.suite.seconds),
        )
        execution = await session.run(run)
        verdict, seen = judge(cases, {}, execution), judge(shown, {}, execution)
        return Judgement(
            right=verdict.status is Status.PASSED,
            shown=seen.status is Status.PASSED,
            passed=verdict.passed,
            total=verdict.total,
        )
