"""What a candidate must survive: the target cases, its neighbours, and in a fresh sandbox all that `proofs.py` knows.

Calibration runs these with the user's own code; here the same runs are judged for a candidate.
It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace

from greenloop import proofs
from greenloop.core.nouns import Case, CaseResult, Evidence, Execution, Failure, Provenance, Run, Spec, Status, Verdict
from greenloop.core.ports import Session
from greenloop.core.verdict import forged, judge
from greenloop.proofs import ACCEPTING, Bench, of_candidate, selectors
from greenloop.runners.pytest import parse

Open = Callable[[], Awaitable[Session]]


async def verify(bench: Bench, session: Session, files: Mapping[str, str], *, hash_seed: int = 0) -> Verdict:
    """The target cases first; the neighbours only when those pass."""
    run = bench.run(files, hash_seed=hash_seed)
    execution = await session.run(run)
    verdict = of_candidate(judge(bench.expected, bench.outcomes, execution), execution)
    if verdict.status is not Status.PASSED or not bench.problem.neighbours:
        return verdict
    around = replace(run, selectors=selectors(bench.problem.neighbours), seconds=bench.suite_seconds)
    return await _with_neighbours(bench, session, verdict, around)


async def _with_neighbours(bench: Bench, session: Session, verdict: Verdict, around: Run) -> Verdict:
    """Failed when a neighbour that passed with the user's code does not pass now, nor when it is run once more.

    One that then passes is flaky and breaks nothing. The repeat is of that neighbour alone; where it passes so, of the
    whole run, for what fails only after other tests is no flakiness.
    """
    verdict, newly = await _round(bench, session, verdict, around, bench.problem.neighbours)
    again = tuple(case.id for case in newly)
    for run in (replace(around, selectors=selectors(again)), around):
        if verdict.status is not Status.PASSED or not newly:
            return verdict
        verdict, still = await _round(bench, session, verdict, run, again)
        if still:
            return broken(verdict, newly=still)
    return replace(verdict, flaky=again) if verdict.status is Status.PASSED else verdict


async def _round(
    bench: Bench, session: Session, verdict: Verdict, run: Run, of: Sequence[str]
) -> tuple[Verdict, list[CaseResult]]:
    """The verdict with this run's time and, where its report was tampered with, that; and which of the cases fail."""
    execution = await session.run(run)
    proofs.unbroken(execution)
    verdict = replace(verdict, seconds=verdict.seconds + execution.seconds)
    if lie := forged(execution):
        return replace(verdict, status=Status.TAMPERED, reason=lie), []
    return verdict, newly_failing(bench, execution, of)


def newly_failing(bench: Bench, execution: Execution, of: Sequence[str]) -> list[CaseResult]:
    """Those of these neighbours that passed with the user's own code and do not in this execution."""
    found = {result.id: result for result in parse(execution)}
    newly = []
    for case in of:
        if bench.outcomes.get(case) != "passed":
            continue
        result = found.get(case) or CaseResult(
            id=case,
            outcome="missing",
            failure=Failure(type="Missing", message=execution.killed or "the test did not run to its end"),
        )
        if not result.passed:
            newly.append(result)
    return newly


def broken(verdict: Verdict, *, newly: Sequence[CaseResult]) -> Verdict:
    """The verdict of a candidate whose target passes and which breaks other tests."""
    names = ", ".join(result.id for result in newly[:3])
    reason = f"The target passes, but {len(newly)} other test(s) now fail: {names}"
    return replace(verdict, status=Status.FAILED, collateral=tuple(newly), reason=reason)


async def accept(
    bench: Bench, open_session: Open, files: Mapping[str, str], tests: Mapping[str, str]
) -> tuple[Verdict, Evidence]:
    """The whole proof, in a fresh sandbox with one hash seed of its own; `tests` are the user's test files by path.

    A verdict that is not passed says why: a pass that does not repeat, a neighbour that broke, a fooled canary.
    """
    session = await open_session()
    try:
        verdict = await _everything(bench, session, files)
        if verdict.status is not Status.PASSED:
            return verdict, Evidence()
        ran = {result.id for result in verdict.cases if result.passed}
        cases = [case for case in bench.problem.spec.cases if _turnable(case) and case.id in ran]
        worse, canaried = await proofs.canaried(bench, session, files, tests, cases)
        if worse is not None:
            return worse, Evidence()
        outside = await proofs.out_of_process(bench, session, files, cases)
        return verdict, evidence(bench, verdict, session.name, cases, canaried=canaried, outside=outside)
    finally:
        await session.close()


def _turnable(case: Case) -> bool:
    """Is it a test whose assertions can be turned round? Examples of docstrings and property tests have none."""
    return case.provenance is Provenance.USER or (bool(case.source) and case.provenance is not Provenance.PROPERTY)


async def _everything(bench: Bench, session: Session, files: Mapping[str, str]) -> Verdict:
    """Target and neighbours in one run; they share a process as they do in the user's own suite."""
    around = selectors(bench.problem.neighbours)
    run = bench.run(files, hash_seed=ACCEPTING)
    if not around:
        execution = await session.run(run)
        return of_candidate(judge(bench.expected, bench.outcomes, execution), execution)
    execution = await session.run(
        replace(
            run, selectors=tuple(dict.fromkeys((*run.selectors, *around))), seconds=run.seconds + bench.suite_seconds
        )
    )
    verdict = of_candidate(judge(bench.expected, bench.outcomes, execution), execution)
    if forged(execution):
        return verdict
    if verdict.status is Status.PASSED and not newly_failing(bench, execution, bench.problem.neighbours):
        return verdict
    # A neighbour may have spoilt the common run (ended it, used up its time); apart they are judged apart.
    return await verify(bench, session, files, hash_seed=ACCEPTING)


def evidence(
    bench: Bench, verdict: Verdict, sandbox: str, cases: Sequence[Case], *, canaried: Collection[str], outside: int
) -> Evidence:
    green = sum(bench.outcomes.get(case) == "passed" for case in bench.problem.neighbours)
    red = sum(bench.outcomes.get(case) in {"failed", "error", "missing"} for case in bench.problem.neighbours)
    return Evidence(
        sandbox=sandbox,
        network=bench.network,
        cases=counts(bench.problem.spec, verdict),
        neighbours_unchanged=green - len(verdict.flaky),
        neighbours_already_failing=red,
        neighbours_left_out=bench.left_out,
        neighbours_flaky=len(verdict.flaky),
        canaried=len(canaried),
        canaried_cases=tuple(case.id for case in cases if case.id in canaried),
        canary_total=len(cases),
        out_of_process=outside,
    )


def counts(spec: Spec, verdict: Verdict) -> dict[str, tuple[int, int]]:
    """How many cases of each provenance passed, of how many; those that are believed no more count as not passed."""
    found: dict[str, tuple[int, int]] = {}
    passed = {case.id for case in verdict.cases if case.passed}
    for case in spec.cases:
        good, every = found.get(case.provenance, (0, 0))
        found[case.provenance] = (good + (case.id in passed), every + 1)
    for case in spec.outvoted:
        good, every = found.get(case.provenance, (0, 0))
        found[case.provenance] = (good, every + 1)
    return found
