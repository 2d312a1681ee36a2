"""Judges candidates: in the open session while the loop runs, in a fresh sandbox with all proofs before acceptance.

A candidate's texts become a verdict through `Verifier`, a run in the sandbox, and `core.verdict.judge`.
It must not know where candidates come from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Evidence
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Trial, judge
from greenloop.core.run_state import RunState
from greenloop.core.summary import GENERATED_PROVENANCES
from greenloop.core.verification_inputs import ACCEPTING, Encode, VerificationInputs
from greenloop.verdict import evidence
from greenloop.verdict.apart import Proofs, prove
from greenloop.verdict.apart_runs import FAILS
from greenloop.verdict.beyond_tests.checks import BeyondTests, Pass, look_beyond
from greenloop.verdict.case_runs import (
    GLANCE,
    SLOWER,
    Change,
    Files,
    changed_texts,
    code_before,
    quick_limit,
    run_cases,
    run_everything,
)
from greenloop.verdict.evidence import Progress
from greenloop.verdict.related_tests import own_code, related
from greenloop.verdict.related_tests.unmeasured import LatePolicy, UnmeasuredTests
from greenloop.wording.outcome import describe_rest
from greenloop_sandbox import Execution, Inspection, Session, WatchedLines

OpenSession = Callable[[], Awaitable[Session]]

SUITE_SHARE = 1 / 3  # of the run's time that is left: the most for one run of the related tests
NOT_RUN = "no test runs the changed code"
OUT_OF_TIME = Verdict(status=Status.TIMEOUT, reason="The run's time was over before the tests could run again.")


@dataclass(kw_only=True)
class Verifier:
    """Judges the candidates of one run by the current problem of its state. It is built once for each run.

    `session` is the open sandbox for `verify` and `glance`; `open_session` opens a fresh one for `accept`.
    `ensure_unchanged` raises `BaselineChangedError` where the user's tests have changed since the baseline. `own_texts`
    are given where the workspace itself has the change: the texts before it, None for new files. `proved` are the ids
    of the cases whose passes are proven (None: all), for a whole suite run several times would take long.
    `own_code` returns the files of the user's own code that differ from the disk (None: it is not known any more).
    `failed` are verdicts of `glance` that are known already. `beyond` says what `accept` looks at beyond the tests,
    `late` what holds for related tests that a result does not wait for.
    """

    state: RunState
    open_session: OpenSession
    encode: Encode
    suite_seconds: float
    network: bool = False
    session: Session | None = None
    ensure_unchanged: Callable[[], Awaitable[None]] | None = None
    own_texts: Mapping[str, str | None] | None = None
    proved: Collection[str] | None = None
    own_code: Callable[[], Mapping[str, bytes]] | None = None
    failed: Mapping[Change, Verdict] = field(default_factory=dict)
    beyond: BeyondTests | None = None
    late: LatePolicy = field(default_factory=LatePolicy)
    _asked: set[str] = field(default_factory=set)
    _passes: dict[Change, Verdict] = field(default_factory=dict)
    _usual_seconds: float | None = None

    @property
    def inputs(self) -> VerificationInputs:
        """Inputs of the next run, from the current state and by the time that is left."""
        state = self.state
        left = state.deadline.left_to_search or state.deadline.left
        return VerificationInputs(
            problem=state.problem,
            outcomes=state.outcomes,
            limits=state.limits,
            suite_seconds=min(self.suite_seconds, SUITE_SHARE * left),
            encode=self.encode,
            unmeasured=state.unmeasured,
            own=self.own_code() if self.own_code is not None else None,
            network=self.network,
        )

    async def verify(self, files: Files) -> Verdict:
        """Runs the target cases in the open session, and the related tests if those pass."""
        return await self._verify(files, self.inputs)

    async def glance(self, files: Files) -> Verdict:
        """As `verify`, for hundreds of candidates: one that takes much longer than the user's code has failed."""
        if known := self.failed.get(frozenset(self._changed(files).items())):
            return known
        inputs = self.inputs
        if self._usual_seconds is None:
            self._usual_seconds = await self._measure_own_code(inputs)
        return await self._verify(files, inputs, most=quick_limit(self._usual_seconds))

    async def _measure_own_code(self, inputs: VerificationInputs) -> float:
        """Seconds that the user's code takes: the first run imported everything, so a long one is repeated."""
        first = self.state.attempts[0].verdict.seconds
        if SLOWER * first <= GLANCE:
            return first
        assert self.session is not None
        again = await run_cases(inputs, self.session, {})
        return min(first, again.seconds)

    async def accept(
        self,
        files: Files,
        offer: Callable[[Files, Evidence], None] = lambda _files, _evidence: None,
        report_status: Callable[[str], None] = lambda _sentence: None,
    ) -> Verdict:
        """Runs all proofs in a fresh sandbox with another hash seed, and stores the evidence in the state.

        The reason of a verdict other than passed says why: a pass that does not repeat, or a broken related test. Where
        the run's time ends before the proofs do, a pass of `verify` stays one, and the evidence says what is not
        proven. `offer` gets the changed texts and the evidence of a result while more related tests run,
        `report_status` how many have. Raises `BaselineChangedError` where the user's tests have changed.
        """
        if self.ensure_unchanged is not None:
            await self.ensure_unchanged()

        changed = self._changed(files)
        known = self._passes.get(frozenset(changed.items()), OUT_OF_TIME)
        progress = Progress(
            inputs=related.postpone(self.inputs, changed, self.late.durations()),
            verdict=known,
            sandbox=self.session.name if self.session else "",
            offer=partial(offer, changed),
            report_status=report_status,
        )
        try:
            async with self.state.deadline.limit() as limit:
                await self._prove_all(changed, progress)
        except TimeoutError:
            if not limit.expired():
                raise
        proved = progress.evidence() if progress.verdict.status is Status.PASSED else Evidence()
        verdict = await self._judge(files, progress.inputs, progress.verdict, is_final=True)
        counts = evidence.count_cases(self.state.problem.spec, verdict)
        self.state.evidence = replace(proved, cases=counts, data={**proved.data, **verdict.data})
        return verdict

    async def run(
        self,
        attempt: Attempt,
        selectors: Sequence[str],
        watch: Sequence[WatchedLines] = (),
        *,
        inspect: Inspection | None = None,
    ) -> Execution:
        """Runs these selectors over an attempt's texts in the open session, traces lines and describes failures."""
        assert self.session is not None
        problem = self.state.problem
        files = compose(problem, attempt.candidate) if attempt.candidate else problem.files
        test_run = self.inputs.test_run(self._changed(files))
        run = replace(test_run, selectors=tuple(selectors), watch=tuple(watch), inspect=inspect)
        return await self.session.run(run)

    async def _verify(self, files: Files, inputs: VerificationInputs, *, most: float = inf) -> Verdict:
        assert self.session is not None
        session = self.session
        changed = self._changed(files)
        verdict, inputs = await self._settle(
            related.postpone(inputs, changed, self.late.durations()),
            session,
            lambda each: run_cases(each, session, changed, most=most),
            hash_seed=0,
        )
        if verdict.status is Status.PASSED:
            self._passes[frozenset(changed.items())] = verdict
        return await self._judge(files, inputs, verdict)

    async def _settle(
        self,
        inputs: VerificationInputs,
        session: Session,
        run: Callable[[VerificationInputs], Awaitable[Verdict]],
        *,
        hash_seed: int,
    ) -> tuple[Verdict, VerificationInputs]:
        """Returns the verdict of `run`, and the inputs with what it takes to know of the user's own code.

        A skip is tampering only where the same case, alone, is not skipped with the user's own code.
        """
        verdict = await run(inputs)
        if unstable := await self._unstable(inputs, session, verdict):
            self.state.leave_out_related(unstable)
            kept = tuple(case for case in inputs.problem.neighbours if case not in unstable)
            inputs = replace(inputs, problem=replace(inputs.problem, neighbours=kept))
            verdict = await run(inputs)
        while inputs.own is not None:
            doubtful = [case for case in own_code.unexpected(verdict, self.state.outcomes) if case not in self._asked]
            if not (doubtful := doubtful[: own_code.MOST_ALONE]):
                break
            self._asked.update(doubtful)
            found = await own_code.outcomes_alone(inputs, session, doubtful, hash_seed)
            inputs = replace(inputs, outcomes=self.state.learn_outcomes(found))
            verdict = await run(inputs)
        return verdict, inputs

    @staticmethod
    async def _unstable(inputs: VerificationInputs, session: Session, verdict: Verdict) -> frozenset[str]:
        """Related tests that have another id in every run of the user's own code, where this verdict misses some."""
        if not (missed := related.not_collected(verdict)) or inputs.own is None:
            return frozenset()
        red = [case for case in inputs.problem.neighbours if inputs.outcomes.get(case) in related.RED]
        return await own_code.vanished(inputs, session, [*missed, *red])

    async def _judge(
        self, files: Files, inputs: VerificationInputs, verdict: Verdict, *, is_final: bool = False
    ) -> Verdict:
        """Returns the verdict of the tests with that of the run's requirements."""
        trial = Trial(
            inputs=inputs,
            files=files,
            changed=self._changed(files),
            session=self.session,
            is_final=is_final,
            deadline=self.state.deadline,
        )
        return await judge(self.state.requirements, trial, verdict)

    async def _prove_all(self, files: Files, progress: Progress) -> None:
        """Proves step by step; `progress` always has what is known by now."""
        progress.rest = rest = UnmeasuredTests(
            inputs=progress.inputs,
            files=files,
            open_session=self.open_session,
            left=self.state.deadline.left,
            policy=self.late,
        )
        rest.start()
        session: Session | None = None
        try:
            session = await self.open_session()
            progress.sandbox = session.name
            verdict, inputs = await self._settle(
                progress.inputs, session, partial(run_everything, session=session, files=files), hash_seed=ACCEPTING
            )
            if progress.verdict.status is Status.PASSED:  # what was red before may be flaky: it has to pass both times
                twice = tuple(case for case in verdict.turned_green if case in progress.verdict.turned_green)
                verdict = replace(verdict, turned_green=twice)
            progress.verdict, progress.inputs = verdict, inputs
            if verdict.status is not Status.PASSED:
                return
            green = {result.id for result in verdict.cases if result.passed}
            cases = [case.id for case in inputs.problem.spec.cases if case.executed and case.id in green]
            cases = [case for case in cases if self.proved is None or case in self.proved]
            before = code_before(self.state, self.own_texts, files)
            own = {path: text or "" for path, text in before.texts.items()}
            proofs = await prove(inputs, session, files, before, cases)
            has_related = inputs.problem.neighbours or inputs.unmeasured
            # A change of tests alone has no code to run.
            if before.texts and self.proved is not None and not self.proved and not has_related:
                proofs = Proofs(unproven=dict.fromkeys(inputs.expected, NOT_RUN))
            progress.proofs = proofs
            if proofs.tampering:
                progress.verdict = replace(verdict, status=Status.TAMPERED, reason=proofs.tampering)
                return
            if reason := _generated_failure(inputs.problem.spec, proofs):
                progress.verdict = replace(verdict, status=Status.FAILED, reason=reason)
                return
            if self.beyond is not None:
                new = files if self.beyond.after is None else self.beyond.after
                passed = Pass(
                    inputs=inputs,
                    session=session,
                    verdict=verdict,
                    files=files,
                    own=own,
                    new=new,
                    options=self.beyond.options,
                )
                found = await look_beyond(passed, is_late=False)
                if found.failure is not None:
                    progress.verdict = found.failure
                    return
                progress.data = found.data
            if rest.goes_on:
                progress.offer(progress.evidence())
            if self.beyond is not None:
                progress.data = {**progress.data, **(await look_beyond(passed, is_late=True)).data}
            checked = progress.evidence().neighbours_unchanged - rest.passed
            rest.report = lambda done, count: progress.report_status(describe_rest(checked + done, checked + count))
            progress.verdict, progress.rest = await rest.finish(session, verdict), None
        finally:
            await asyncio.shield(rest.stop())
            if session is not None:
                await session.close()

    def _changed(self, files: Files) -> dict[str, str]:
        return changed_texts(self.state.problem, files)


def _generated_failure(spec: Spec, proofs: Proofs) -> str:
    """Says why a candidate fails that passes generated tests, which are plain, in one process alone."""
    generated = {case.id for case in spec.cases if case.provenance in GENERATED_PROVENANCES}
    failing = [case for case, why in proofs.unproven.items() if case in generated and why.startswith(FAILS)]
    return f"{failing[0]} passes in one process alone: {proofs.unproven[failing[0]]}." if failing else ""
