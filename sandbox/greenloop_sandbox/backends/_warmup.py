"""Learns from runs of the user's own code how to warm up a resident supervisor, for every back end.

It learns which packages to import before the fork, and for which selectors a pytest session that was opened before the
fork gives the same outcomes as a fresh one.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop_sandbox import payload
from greenloop_sandbox.pytest_files import CONFIGURATION
from greenloop_sandbox.records import Execution, SandboxSpec, TestRun
from greenloop_sandbox.report.cases import collected_cases, records_of_kind
from greenloop_sandbox.report.forgery import forged

log = logging.getLogger(__name__)

PREPARE_SECONDS = 60.0  # seconds for imports and the pytest session
MAX_REHEARSAL_SECONDS = 5.0  # seconds; for a longer run, saving a fraction of a second is not worth a second run
MAX_UNSURE = 3  # after this many attempts a workspace whose runs differ anyway is given up

Stamp = tuple[object, ...]
_WHOLE_SUITE = ""  # stands for a run without selectors


@dataclass(kw_only=True)
class Warmup:
    """Facts about a workspace, learnt from runs of the user's own code.

    `modules` are imported before the fork; `rewritten` too, but after pytest has its session, because they have plugins
    for it; `examined` holds all packages that were tried. `agreed_selectors` are the selectors, and the ids of their
    cases, for which a pytest session opened before the fork gave the same outcomes; `session_allowed` False: it is
    never used here. `unsure_count` counts the comparisons without a result.
    """

    modules: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    examined: set[str] = field(default_factory=set)
    agreed_selectors: set[str] = field(default_factory=set)
    session_allowed: bool = True
    unsure_count: int = 0
    libraries: Stamp = ()

    def may_use_session(self, run: TestRun) -> bool:
        """True if this run may use a pytest session opened before the fork."""
        if run.collect or run.trace or run.baseline or run.apart or run.inspect or not self._has_agreed(run):
            return False
        return not any(path.rpartition("/")[2] in CONFIGURATION for path in (*run.files, *run.without))

    def _has_agreed(self, run: TestRun) -> bool:
        """True if each selector was part of a run that agreed, alone or with its whole file."""
        selectors = run.selectors or (_WHOLE_SUITE,)
        return all(
            selector in self.agreed_selectors or selector.split("::", 1)[0] in self.agreed_selectors
            for selector in selectors
        )

    def reset_if_changed(self, libraries: Stamp) -> None:
        """Forgets everything when the installed packages differ from those that it was learnt with."""
        if self.libraries != libraries:
            self.modules, self.rewritten, self.examined = [], [], set()
            self.session_allowed, self.libraries = True, libraries
            self.agreed_selectors.clear()
            self.unsure_count = 0

    @property
    def is_useful(self) -> bool:
        """True if a new supervisor should be prepared."""
        return bool(self.modules or (self.session_allowed and self.agreed_selectors))

    def new_packages(self, execution: Execution) -> list[str]:
        """Packages that this run imported and that were not tried yet."""
        names = [str(name) for record in records_of_kind(execution, "modules") for name in record.get("names", ())]
        return [name for name in names if name not in self.examined]

    def should_rehearse(self, run: TestRun, execution: Execution) -> bool:
        """True if to test that this run has the same outcomes in a session opened before the fork."""
        if not self.session_allowed or run.collect or self._has_agreed(run):
            return False
        return not execution.killed and execution.seconds < MAX_REHEARSAL_SECONDS

    def request(self, spec: SandboxSpec, names: Sequence[str], *, trial: bool, **fields: Any) -> dict[str, Any]:
        """The request to prepare a supervisor; `fields` are those in which the back end differs."""
        request: dict[str, Any] = payload.protocol().prepare_request(
            **{"root": str(spec.root), "start": spec.start, **fields},
            modules=names,
            rewritten=self.rewritten,
            trial=trial,
            session=self.session_allowed,
        )
        return request

    def record_prepared(self, names: Sequence[str], reply: Mapping[str, object]) -> bool:
        """Stores a supervisor's `record_prepared` reply; False when that supervisor must not be used any more."""
        left_out = reply["left_out"]
        self.examined.update(names)
        for known, reported in ((self.modules, reply["modules"]), (self.rewritten, reply["rewritten"])):
            assert isinstance(reported, list)
            known += [str(name) for name in reported if name not in known]
        if left_out:
            log.debug("Not imported beforehand: %s", left_out)
        if reply["spoilt"] or not reply["session"]:
            log.info("No pytest session before the fork: %s", reply["spoilt"] or reply["reason"])
            self.session_allowed = False
        return not reply["spoilt"]

    def record_comparison(self, run: TestRun, first: Execution, second: Execution) -> bool:
        """Compares a run in a pytest session opened before the fork with one without; stores an agreement."""
        if not have_same_outcomes(first, second):
            return False
        self.agreed_selectors.update(run.selectors or (_WHOLE_SUITE,), (case.id for case in collected_cases(first)))
        return True

    def record_failure(self, first: Execution, repeated: Execution) -> bool:
        """True if a disagreement rules out that session, which is then never used here.

        `repeated` is another run without it: a file saved meanwhile changes outcomes, and so does chance. Then the
        result is unknown and left to a later run, but only `MOST_UNSURE` times.
        """
        self.unsure_count += 1
        if not have_same_outcomes(first, repeated) and self.unsure_count < MAX_UNSURE:
            return False
        log.info("A pytest session opened before the fork does not agree here; it is not used.")
        self.session_allowed = False
        return True


class WarmSession(ABC):
    """An open sandbox that learns from runs of the user's own code; runs with one hash seed follow one another."""

    warmup: Warmup
    failures: tuple[type[Exception], ...]  # of a sandbox that is of no use any more
    _learning: asyncio.Task[None] | None = None
    _locks: dict[int, asyncio.Lock]

    def _lock(self, seed: int) -> asyncio.Lock:
        return self._locks.setdefault(seed, asyncio.Lock())

    @abstractmethod
    async def _run_once(self, run: TestRun, *, prepared_session: bool) -> Execution:
        """Runs the tests, in a pytest session opened before the fork where there is one and it may be used."""

    @abstractmethod
    async def _prepare(self, names: Sequence[str]) -> bool:
        """Imports these packages before the fork, and opens a pytest session; False: there is none."""

    @abstractmethod
    async def _discard(self) -> None:
        """Ends the sandbox that was prepared."""

    async def run(self, run: TestRun) -> Execution:
        """Runs the tests. A failure of the sandbox itself is reported in `Execution.broken`; cancelling kills them."""
        async with self._lock(run.hash_seed):
            execution = await self._run_once(run, prepared_session=self.warmup.may_use_session(run))
        if run.baseline and run.hash_seed == 0 and not execution.broken:
            self._learning = asyncio.create_task(self._learn(run, execution, self._learning))
            await asyncio.sleep(0)  # it takes the lock before the next run, which is faster after it
        return execution

    async def _learn(self, run: TestRun, execution: Execution, before: asyncio.Task[None] | None) -> None:
        """After a run of the user's own code: imports what it needed, and tests whether a prepared session agrees."""
        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        packages, can_rehearse = self.warmup.new_packages(execution), self.warmup.should_rehearse(run, execution)
        if not packages and not can_rehearse:
            return
        async with self._lock(0):
            try:
                should_compare = await self._prepare(packages) and can_rehearse
                if should_compare and not await self._sessions_agree(run, execution):
                    await self._discard()
            except self.failures as error:
                log.info("The sandbox could not be prepared (%s); it works without.", error)
                self.warmup.session_allowed = False
                await self._discard()
            except BaseException:
                await asyncio.shield(self._discard())
                raise

    async def _sessions_agree(self, run: TestRun, execution: Execution) -> bool:
        """False where a pytest session opened before the fork certainly gives other outcomes."""
        with_session = await self._run_once(rehearsal(run), prepared_session=True)
        if self.warmup.record_comparison(run, execution, with_session):
            return True
        repeated = await self._run_once(rehearsal(run), prepared_session=False)
        return self.warmup.record_comparison(run, repeated, with_session) or not self.warmup.record_failure(
            execution, repeated
        )

    async def _stop_learning(self) -> None:
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.gather(self._learning, return_exceptions=True)


def rehearsal(run: TestRun) -> TestRun:
    """The run to compare with a run of the user's own code."""
    return replace(run, trace=False, baseline=False)


def is_suspicious(execution: Execution) -> bool:
    """True if the sandbox should not be used again after this execution."""
    return bool(
        execution.killed in {"memory", "processes"}
        or (execution.status == -9 and not execution.killed)
        or forged(execution)
    )


def have_same_outcomes(first: Execution, second: Execution) -> bool:
    """True if two executions agree: the cases, the outcome of every phase, the end."""
    return (_outline(first), first.status, first.killed) == (_outline(second), second.status, second.killed)


def _outline(execution: Execution) -> Mapping[tuple[object, ...], int]:
    counts: Counter[tuple[object, ...]] = Counter()
    for record in execution.records:
        if record["kind"] == "phase":
            counts[record.get("id"), record.get("when"), record.get("outcome"), record.get("type")] += 1
        elif record["kind"] == "collected":
            counts[tuple(str(case["id"]) for case in record["cases"])] += 1
        elif record["kind"] in ("collect_error", "forged"):
            counts[record["kind"], record.get("id")] += 1
    return counts
