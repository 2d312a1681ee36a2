"""Judges candidates: in the open session while the loop runs, in a fresh sandbox with all proofs before acceptance.

A candidate's texts become a verdict through `Verifier`, a run in the sandbox, and `core.verdict.judge`.
It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.core.compose import compose
from greenloop.core.ports import Session, Tools
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Evidence
from greenloop.core.records.sandbox import Execution, TestRun, WatchedLines
from greenloop.core.records.spec import USER_PROVENANCES, Case, Provenance, Spec
from greenloop.core.records.verdict import CaseResult, Failure, Status, Verdict
from greenloop.core.report import case_results
from greenloop.core.run_state import RunState
from greenloop.core.selectors import fit_selectors
from greenloop.core.verdict import forged
from greenloop.specs import host_checks
from greenloop.verdict import proofs, reversal
from greenloop.verdict.inputs import ACCEPTING, Encode, VerificationInputs, check_sandbox
from greenloop.verdict.reversal import ReversalResult

Files = Mapping[str, str]
OpenSession = Callable[[], Awaitable[Session]]

SLOWER = 10  # times the duration with the user's own code: allows for a loaded machine or a slower algorithm
NO_PROOF = "nothing shows that it depends on the changed code"
GLANCE = 1.0  # lower bound in seconds for one of many candidates


@dataclass(kw_only=True)
class Verifier:
    """Judges the candidates of one run by the current problem of its state. It is built once for each run.

    `session` is the open sandbox for `verify` and `glance`; `open_session` opens a fresh one for `accept`.
    `tools` serve the checks that need no sandbox (None: no such checks); `ensure_unchanged` raises
    `BaselineChangedError` where the user's tests have changed since the baseline. `own_texts` are the texts before the
    change, where the changed ones are those of the workspace.
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
            left_out=state.left_out,
            network=self.network,
        )

    async def verify(self, files: Files) -> Verdict:
        """Runs the target cases in the open session, and the related tests if those pass."""
        return await self._verify(files, self.inputs)

    async def glance(self, files: Files) -> Verdict:
        """As `verify`, for hundreds of candidates: one that takes much longer than the user's code has failed."""
        inputs = self.inputs
        seconds = max(GLANCE, SLOWER * self.state.attempts[0].verdict.seconds)
        limits = replace(inputs.limits, seconds=min(seconds, inputs.limits.seconds))
        return await self._verify(files, replace(inputs, limits=limits))

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
        counts = count_cases(self.state.problem.spec, verdict)
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
        return await self._with_host_checks(files, lambda: run_cases(inputs, session, self._changed(files)))

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
            verdict = await _run_everything(inputs, session, files)
            if verdict.status is not Status.PASSED:
                return verdict, Evidence()
            passed = {result.id for result in verdict.cases if result.passed}
            cases = [case for case in spec.cases if _has_assertions(case) and case.id in passed]
            failure, canaried = await proofs.check_tampering(inputs, session, files, tests, cases)
            if failure is not None:
                return failure, Evidence()
            failure, reversed_cases = await reversal.reverse(
                inputs, session, files, self._own_texts(files), tests, self._first_failures()
            )
            if failure is not None:
                return failure, Evidence()
            isolated = await proofs.count_isolated_passes(inputs, session, files, cases)
            evidence = gather_evidence(inputs, verdict, session.name, cases, canaried=canaried, out_of_process=isolated)
            return verdict, add_proofs(evidence, spec, passed, reversed_cases)
        finally:
            await session.close()

    def _own_texts(self, files: Files) -> dict[str, str]:
        """Returns the user's own texts of the changed files; a new file has none."""
        own_texts = self.own_texts if self.own_texts is not None else self.state.problem.originals
        changed = files if self.own_texts is None else own_texts
        return {path: text for path in changed if path.endswith(".py") and (text := own_texts.get(path)) is not None}

    def _first_failures(self) -> dict[str, str]:
        """Returns the types of the failures with the user's own code, by case id."""
        first = self.state.attempts[0].verdict.cases if self.state.attempts else ()
        return {result.id: result.failure.type for result in first if result.failure and not result.passed}

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
    related_run = replace(test_run, selectors=fit_selectors(inputs.problem.neighbours), seconds=inputs.suite_seconds)
    return await _run_related(inputs, session, verdict, related_run)


async def _run_related(inputs: VerificationInputs, session: Session, verdict: Verdict, related_run: TestRun) -> Verdict:
    """Runs the related tests; fails where one that passed with the user's code fails now and again when repeated.

    A test that passes on repetition is flaky and does not count. It is repeated alone first; if it passes alone, the
    whole run is repeated, because a test that fails only after other tests is not flaky.
    """
    verdict, failing = await _run_related_once(inputs, session, verdict, related_run, inputs.problem.neighbours)
    repeated = tuple(case.id for case in failing)
    for run in (replace(related_run, selectors=fit_selectors(repeated)), related_run):
        if verdict.status is not Status.PASSED or not failing:
            return verdict
        verdict, still_failing = await _run_related_once(inputs, session, verdict, run, repeated)
        if still_failing:
            return fail_for_related(verdict, still_failing)
    return replace(verdict, flaky=repeated) if verdict.status is Status.PASSED else verdict


async def _run_related_once(
    inputs: VerificationInputs, session: Session, verdict: Verdict, run: TestRun, neighbours: Sequence[str]
) -> tuple[Verdict, list[CaseResult]]:
    """Adds this run's time, and a forged report if any, to the verdict; returns it and the newly failing cases."""
    execution = await session.run(run)
    check_sandbox(execution)
    verdict = replace(verdict, seconds=verdict.seconds + execution.seconds)
    if forgery := forged(execution):
        return replace(verdict, status=Status.TAMPERED, reason=forgery), []
    return verdict, newly_failing(inputs, execution, neighbours)


def newly_failing(inputs: VerificationInputs, execution: Execution, neighbours: Sequence[str]) -> list[CaseResult]:
    """Returns the related tests that passed with the user's own code and do not pass in this execution."""
    results = {result.id: result for result in case_results(execution)}
    failing = []
    for case in neighbours:
        if inputs.outcomes.get(case) != "passed":
            continue
        result = results.get(case) or CaseResult(
            id=case,
            outcome="missing",
            failure=Failure(type="Missing", message=execution.killed or "the test did not run to its end"),
        )
        if not result.passed:
            failing.append(result)
    return failing


def fail_for_related(verdict: Verdict, failing: Sequence[CaseResult]) -> Verdict:
    """Returns the verdict on a candidate that passes the target but breaks other tests."""
    names = ", ".join(result.id for result in failing[:3])
    reason = f"The target passes, but {len(failing)} other test(s) now fail: {names}"
    return replace(verdict, status=Status.FAILED, collateral=tuple(failing), reason=reason)


def _has_assertions(case: Case) -> bool:
    """Can its assertions be mutated? Docstring examples and property tests have none."""
    return case.provenance is Provenance.USER or (bool(case.source) and case.provenance is not Provenance.PROPERTY)


async def _run_everything(inputs: VerificationInputs, session: Session, files: Files) -> Verdict:
    """Runs target and related tests together; they share a process as in the user's own suite."""
    related = fit_selectors(inputs.problem.neighbours)
    run = inputs.test_run(files)
    if not related:
        return inputs.judge(await session.run(run))
    execution = await session.run(
        replace(
            run, selectors=tuple(dict.fromkeys((*run.selectors, *related))), seconds=run.seconds + inputs.suite_seconds
        )
    )
    verdict = inputs.judge(execution)
    if forged(execution):
        return verdict
    if verdict.status is Status.PASSED and not newly_failing(inputs, execution, inputs.problem.neighbours):
        return verdict
    # A related test may have spoilt the common run (ended it, used up its time), so run both groups separately.
    return await run_cases(inputs, session, files, hash_seed=ACCEPTING)


def gather_evidence(
    inputs: VerificationInputs,
    verdict: Verdict,
    sandbox: str,
    cases: Sequence[Case],
    *,
    canaried: Collection[str],
    out_of_process: int,
) -> Evidence:
    """Counts the evidence for a pass."""
    outcomes = [inputs.outcomes.get(case) for case in inputs.problem.neighbours]
    return Evidence(
        sandbox=sandbox,
        network=inputs.network,
        cases=count_cases(inputs.problem.spec, verdict),
        neighbours_unchanged=outcomes.count("passed") - len(verdict.flaky),
        neighbours_already_failing=sum(outcome in {"failed", "error", "missing"} for outcome in outcomes),
        neighbours_left_out=inputs.left_out,
        neighbours_flaky=len(verdict.flaky),
        canaried=len(canaried),
        canaried_cases=tuple(case.id for case in cases if case.id in canaried),
        canary_total=len(cases),
        out_of_process=out_of_process,
    )


def add_proofs(evidence: Evidence, spec: Spec, passed: Collection[str], reversed_cases: ReversalResult) -> Evidence:
    """Adds the proofs of each passed case, and the reason where one of the user's has none.

    Where the values that a test compared may lie, only the isolated re-run counts: no such value reached it.
    """
    isolated = {case.id for case in spec.cases if case.id in passed and _has_assertions(case)}
    isolated = isolated if evidence.out_of_process == len(isolated) else set()
    found: dict[str, tuple[str, ...]] = {}
    unproven: dict[str, str] = {}
    for case in spec.cases:
        if case.id not in passed or not case.executed:
            continue
        is_suspicious = case.id in reversed_cases.suspicious
        kinds = {
            "reversal": case.id in reversed_cases.proven,
            # The assertions about a score are greenloop's own: they say nothing about how the scorer compares.
            "tamper check": case.id in evidence.canaried_cases
            and not is_suspicious
            and case.provenance is not Provenance.SCORE,
            "isolated re-run": case.id in isolated and case.id not in reversed_cases.unasserted,
        }
        found[case.id] = tuple(kind for kind, holds in kinds.items() if holds)
        if not found[case.id] and case.provenance in USER_PROVENANCES:
            unproven[case.id] = reversed_cases.unproven.get(case.id, NO_PROOF)
    return replace(evidence, proofs={case: kinds for case, kinds in found.items() if kinds}, unproven=unproven)


def count_cases(spec: Spec, verdict: Verdict) -> dict[str, tuple[int, int]]:
    """Counts the cases of each provenance as (passed, total); outvoted cases count as not passed."""
    counts: dict[str, tuple[int, int]] = {}
    passed = {case.id for case in verdict.cases if case.passed}
    for case in spec.cases:
        good, total = counts.get(case.provenance, (0, 0))
        counts[case.provenance] = (good + (case.id in passed), total + 1)
    for case in spec.outvoted:
        good, total = counts.get(case.provenance, (0, 0))
        counts[case.provenance] = (good, total + 1)
    return counts
