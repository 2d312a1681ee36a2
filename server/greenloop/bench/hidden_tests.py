"""Judges candidates in the sandbox by tests that the engine never saw."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.bench.tasks import Task
from greenloop.core.ports import Session
from greenloop.core.records.sandbox import TestRun
from greenloop.core.records.verdict import Status
from greenloop.core.test_selection import fit_selectors
from greenloop.core.verdict import judge
from greenloop.engine import refine
from greenloop.project.settings import Settings
from greenloop.sandboxes import selection
from greenloop.sandboxes.pool import SandboxPool


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The judging cases that pass (`passed` of `total`); do all of them (`right`), do all shown ones (`shown`)?"""

    right: bool
    shown: bool
    passed: int
    total: int


# A busy machine must not change a judgement, so the time limit is this many times that of a test run.
TIME_FACTOR = 4
NOT_RUN = Judgement(right=False, shown=False, passed=0, total=0)  # without a run


@dataclass(kw_only=True)
class Judge:
    """The judge of one task. Texts are run only once."""

    task: Task
    root: Path
    settings: Settings
    pool: SandboxPool
    judgements: dict[str, Judgement] = field(default_factory=dict)

    async def __call__(self, texts: Mapping[str, str]) -> Judgement:
        """Judges whole files by path, laid over the task. Raises `CannotVerifyError` where no sandbox can be used."""
        key = json.dumps(sorted(texts.items()))
        if key not in self.judgements:
            sandbox_spec = await refine.build_sandbox_spec(self.root, self.settings)
            _sandbox, session = await selection.open_first(sandbox_spec, self.settings, refine.ignore_status, self.pool)
            try:
                self.judgements[key] = await self._run(session, texts)
            finally:
                await self.pool.release(session)
        return self.judgements[key]

    async def _run(self, session: Session, texts: Mapping[str, str]) -> Judgement:
        files = {**self.task.files, **texts, **self.task.judge}
        cases, shown = list(self.task.cases), list(self.task.shown)
        run = TestRun(
            selectors=fit_selectors(list(dict.fromkeys([*cases, *shown]))),
            files={path: text.encode() for path, text in files.items()},
            seconds=max(TIME_FACTOR * self.settings.sandbox.seconds, self.settings.suite.seconds),
        )
        execution = await session.run(run)
        verdict, shown_verdict = judge(cases, {}, execution), judge(shown, {}, execution)
        return Judgement(
            right=verdict.status is Status.PASSED,
            shown=shown_verdict.status is Status.PASSED,
            passed=verdict.passed,
            total=verdict.total,
        )
