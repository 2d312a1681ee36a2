"""Judges candidates: in the open session while the loop runs, in a fresh sandbox with all proofs before acceptance.

A candidate's texts become a verdict through `Verifier`, a run in the sandbox, and `core.verdict.judge`.
It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from greenloop.core.compose import compose
from greenloop.core.ports import Session, Tools
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Evidence
from greenloop.core.records.sandbox import Execution, WatchedLines
from greenloop.core.records.spec import Provenance
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.core.test_selection import fit_selectors
from greenloop.core.verdict import forged
from greenloop.drafting.candidates.sight_of_tests import describe_reads
from greenloop.specs import host_checks
from greenloop.verdict import evidence, own_code, proofs, related, reversal
from greenloop.verdict.inputs import ACCEPTING, Encode, VerificationInputs
from greenloop.verdict.reversal import OwnCode

Files = Mapping[str, str]
OpenSession = Callable[[], Awaitable[Session]]

SLOWER = 10  # times the duration with the user's own code: allows for a loaded machine or a slower algorithm
NOT_PASSED = ("failed", "error", "missing", None)  # outcomes of a case that passes newly
GLANCE = 1.0  # lower bound in seconds for one of many candidates


@dataclass(kw_only=True)
class Verifier:
    """Judges the candidates of one run by the current problem of its state. It is built once for each run.

    `session` is the open sandbox for `verify` and `glance`; `open_session` opens a fresh one for `accept`.
    `tools` serve the checks that need no sandbox (None: no such checks); `ensure_unchanged` raises
    `BaselineChangedError` where the user's tests have changed since the baseline. `own_texts` are given where the
    workspace itself has the change: the texts before it, empty for new files. Then only what newly passes is reversed,
    for a whole suite run several times would take long.
    `own_code` returns the files of the user's own code that differ from the disk (None: it is not known any more).
    """

    state: RunState
    open_session: OpenSession
    encode: Encode
    suite_seconds: float
    network: bool = False
    session: Session | None = None
    tools: Tools | None = None
    ensure_unchanged: Callable[[], Awaitable[None]] | None = None
    own_texts: Files | None = None
    own_code: Callable[[], Mapping[str, bytes]] | None = None
    _asked: set[str] = field(default_factory=set)
    _usual_seconds: float | None = None

    @property
    def inputs(self) -> VerificationInputs:
        """Inputs of the next run, from the current state."""
        state = self.state
        return VerificationInputs(
            problem=state.problem,
            outcomes=state.outcomes,
            limits=state.limits,
            suite_seconds=self.suite_seconds,
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
        inputs = self.inputs
        if self._usual_seconds is None:
            self._usual_seconds = await self._measure_own_code(inputs)
        seconds = max(GLANCE, SLOWER * self._usual_seconds)
        limits = replace(inputs.limits, seconds=min(seconds, inputs.limits.seconds))
        return await self._verify(files, replace(inputs, limits=limits))

    async def _measure_own_code(self, inputs: VerificationInputs) -> float:
        """Seconds that the user's code takes: the first run imported everything, so a long one is repeated."""
        first = self.state.attempts[0].verdict.seconds
        if SLOWER * first <= GLANCE:
            return first
        assert self.session is not None
        again = await run_cases(inputs, self.session, {})
        return min(first, again.seconds)

    async def accept(self, files: Files) -> Verdict:
        """Runs all proofs in a fresh sandbox with another hash seed, and stores the evidence in the state.

        The reason of a verdict other than passed says why: a pass that does not repeat, a broken related test, or a
        failed tamper check. Raises `BaselineChangedError` where the user's tests have changed.
        """
        if self.ensure_unchanged is not None:
            await self.ensure_unchanged()

        async def prove() -> Verdict:
            verdict, self.state.evidence = await self._prove(self.inputs, self._changed(files))
            return verdict

        verdict = await self._with_host_checks(files, prove, final=True)
        counts = evidence.count_cases(self.state.problem.spec, verdict)
        self.state.evidence = replace(self.state.evidence, cases=counts)
        return verdict

    async def run(self, attempt: Attempt, selectors: Sequence[str], watch: Sequence[WatchedLines]) -> Execution:
        """Runs these selectors over an attempt's texts in the open session, and traces the lines of `watch`."""
        assert self.session is not None
        problem = self.state.problem
        files = compose(problem, attempt.candidate) if attempt.candidate else problem.files
        test_run = self.inputs.test_run(self._changed(files))
        return await self.session.run(replace(test_run, selectors=tuple(selectors), watch=tuple(watch)))

    async def _verify(self, files: Files, inputs: VerificationInputs) -> Verdict:
        assert self.session is not None
        session = self.session

        async def run() -> Verdict:
            verdict, _inputs = await self._settle(
                inputs, session, lambda each: run_cases(each, session, self._changed(files)), hash_seed=0
            )
            return verdict

        return await self._with_host_checks(files, run)

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
        while inputs.own is not None and (doubtful := self._doubtful(verdict)):
            self._asked.update(doubtful)
            found = await own_code.outcomes_alone(inputs, session, doubtful, hash_seed)
            self.state.outcomes = {**self.state.outcomes, **found}
            inputs = replace(inputs, outcomes=self.state.outcomes)
            verdict = await run(inputs)
        return verdict, inputs

    def _doubtful(self, verdict: Verdict) -> list[str]:
        cases = own_code.unexpected(verdict, self.state.outcomes)
        return [case for case in cases if case not in self._asked][: own_code.MOST_ALONE]

    async def _with_host_checks(
        self, files: Files, run: Callable[[], Awaitable[Verdict]], *, final: bool = False
    ) -> Verdict:
        if self.tools is None:
            return await run()
        return await host_checks.judge(self.state.problem, files, self.tools, run, final=final)

    async def _prove(self, inputs: VerificationInputs, files: Files) -> tuple[Verdict, Evidence]:
        spec = inputs.problem.spec
        tests = {case.path: inputs.problem.files[case.path] for case in spec.cases if case.path in inputs.problem.files}
        tests.update(spec.files)
        session = await self.open_session()
        try:
            began = monotonic()
            verdict, inputs = await self._settle(
                inputs, session, lambda each: _run_everything(each, session, files), hash_seed=ACCEPTING
            )
            verdict = await related.run_unmeasured(inputs, session, verdict, files, began)
            if verdict.status is not Status.PASSED:
                return verdict, Evidence()
            passed = {result.id for result in verdict.cases if result.passed}
            cases = [case for case in spec.cases if evidence.has_assertions(case) and case.id in passed]
            failure, canaried = await proofs.check_tampering(inputs, session, files, tests, cases)
            if failure is not None:
                return failure, Evidence()
            failure, reversed_cases = await reversal.reverse(
                self._reversed_inputs(inputs), session, files, self._before(files, tests)
            )
            if failure is not None:
                return failure, Evidence()
            isolated = await proofs.count_isolated_passes(inputs, session, files, cases)
            found = evidence.gather(inputs, verdict, session.name, cases, canaried=canaried, out_of_process=isolated)
            found = evidence.add_proofs(found, spec, passed, reversed_cases)
            reads = (*verdict.reads, *reversed_cases.reads)
            sight = describe_reads(inputs.problem, files, reads, self._first_verdict().reads)
            return verdict, replace(found, reads_tests=sight)
        finally:
            await session.close()

    def _before(self, files: Files, tests: Files) -> OwnCode:
        originals = self.state.problem.originals
        own_texts = self.own_texts
        if own_texts is None:
            own_texts = {path: originals.get(path) or "" for path in files}
        return OwnCode(
            texts={path: text for path, text in own_texts.items() if path.endswith(".py")},
            tests=tests,
            failures={
                result.id: result.failure.type
                for result in self._first_verdict().cases
                if result.failure and not result.passed
            },
        )

    def _first_verdict(self) -> Verdict:
        """The verdict of the user's own code; empty where it is not known."""
        return self.state.attempts[0].verdict if self.state.attempts else Verdict(status=Status.FAILED)

    def _reversed_inputs(self, inputs: VerificationInputs) -> VerificationInputs:
        if self.own_texts is None:
            return inputs
        spec = inputs.problem.spec
        cases = tuple(
            case
            for case in spec.cases
            if case.provenance is Provenance.USER and inputs.outcomes.get(case.id) in NOT_PASSED
        )
        spec = replace(spec, cases=cases, selectors=fit_selectors([case.id for case in cases]))
        return replace(inputs, problem=replace(inputs.problem, spec=spec))

    def _changed(self, files: Files) -> dict[str, str]:
        """Returns the texts that differ from the user's own; only those overlay the workspace."""
        originals = self.state.problem.originals
        return {path: text for path, text in files.items() if originals.get(path) != text}


async def run_cases(inputs: VerificationInputs, session: Session, files: Files, *, hash_seed: int = 0) -> Verdict:
    """Runs the target cases first, and the related tests only if those pass."""
    test_run = inputs.test_run(files, hash_seed=hash_seed)
    verdict = inputs.judge(await session.run(test_run))
    if verdict.status is not Status.PASSED or not inputs.problem.neighbours:
        return verdict
    return await related.run_related(inputs, session, verdict, test_run, files)


async def _run_everything(inputs: VerificationInputs, session: Session, files: Files) -> Verdict:
    """Runs target and related tests together; they share a process as in the user's own suite."""
    affected = inputs.related(files)
    run = inputs.test_run(files)
    if not affected:
        verdict = inputs.judge(await session.run(run))
        return replace(verdict, unaffected=_passed_before(inputs, inputs.problem.neighbours))
    together = own_code.select(run, [*inputs.expected, *affected])
    selectors = tuple(dict.fromkeys((*run.selectors, *fit_selectors(affected))))
    seconds = run.seconds + inputs.suite_seconds / 2  # the rest is for running them separately
    execution = await session.run(replace(together, selectors=selectors, seconds=seconds))
    verdict = inputs.judge(execution)
    if forged(execution):
        return verdict
    if verdict.status is Status.PASSED and not related.newly_failing(inputs, execution, affected)[0]:
        others = {*inputs.problem.neighbours} - {*affected}
        return replace(verdict, unaffected=_passed_before(inputs, others))
    # A related test may have spoilt the common run (ended it, used up its time), so run both groups separately.
    return await run_cases(inputs, session, files, hash_seed=ACCEPTING)


def _passed_before(inputs: VerificationInputs, cases: Collection[str]) -> int:
    return sum(inputs.outcomes.get(case) == "passed" for case in cases)
