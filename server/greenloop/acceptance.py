"""What a candidate must survive: the target cases, its neighbours, another hash seed, a repeat, and the canary.

Calibration runs these with the user's own code; here the same runs are judged for a candidate.
It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.core import canary
from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import (
    Case,
    CaseResult,
    Evidence,
    Execution,
    Failure,
    Limits,
    Problem,
    Provenance,
    Run,
    Status,
    Verdict,
)
from greenloop.core.ports import Session
from greenloop.core.verdict import judge
from greenloop.runners.pytest import parse

# Hash seeds of the accepting runs; the loop's own runs use 0.
ACCEPTING, REPEATING = 20_011, 7
# More ids than this are selected by their files: a command line has an end.
MOST_SELECTORS = 400

TURNED = {
    canary.Mode.EQUAL: "{case} fails when its assertion is written in another way that means the same.",
    canary.Mode.NEGATED: "{case} does not fail as it must when its assertion is negated.",
    canary.Mode.LITERAL: "{case} does not fail as it must when the value it expects is changed.",
}

Open = Callable[[], Awaitable[Session]]
Encode = Callable[[Mapping[str, str]], Mapping[str, bytes]]


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What verification needs to know: the problem, outcomes with the user's own code, limits, and how to encode."""

    problem: Problem
    outcomes: Mapping[str, str]
    limits: Limits
    suite_seconds: float
    encode: Encode
    left_out: int = 0

    @property
    def expected(self) -> tuple[str, ...]:
        return tuple(case.id for case in self.problem.spec.cases)


async def verify(bench: Bench, session: Session, files: Mapping[str, str], *, hash_seed: int = 0) -> Verdict:
    """The target cases first; the neighbours only when those pass."""
    laid = {**bench.problem.buffers, **bench.encode(files)}
    run = Run(selectors=bench.problem.spec.selectors, files=laid, seconds=bench.limits.seconds, hash_seed=hash_seed)
    execution = await session.run(run)
    verdict = of_candidate(judge(bench.expected, bench.outcomes, execution), execution)
    if verdict.status is not Status.PASSED or not bench.problem.neighbours:
        return verdict
    around = await session.run(
        Run(selectors=selectors(bench.problem.neighbours), files=laid, seconds=bench.suite_seconds, hash_seed=hash_seed)
    )
    return with_neighbours(verdict, bench, around)


def with_neighbours(verdict: Verdict, bench: Bench, execution: Execution) -> Verdict:
    """Failed when a neighbour that passed with the user's code does not pass now."""
    if execution.broken:
        raise CannotVerify(f"The sandbox broke while neighbour tests ran: {execution.broken}")
    found = {result.id: result for result in parse(execution)}
    newly = []
    for case in bench.problem.neighbours:
        if bench.outcomes.get(case) != "passed":
            continue
        result = found.get(case) or CaseResult(
            id=case,
            outcome="missing",
            failure=Failure(type="Missing", message=execution.killed or "the test did not run to its end"),
        )
        if not result.passed:
            newly.append(result)
    seconds = verdict.seconds + execution.seconds
    if not newly:
        return replace(verdict, seconds=seconds)
    names = ", ".join(result.id for result in newly[:3])
    reason = f"The target passes, but {len(newly)} other test(s) now fail: {names}"
    return replace(verdict, status=Status.FAILED, collateral=tuple(newly), reason=reason, seconds=seconds)


def of_candidate(verdict: Verdict, execution: Execution) -> Verdict:
    """With a candidate in it, only a broken sandbox is the environment's fault; a package it lacks is the candidate's."""
    if execution.broken:
        raise CannotVerify(f"The sandbox broke: {execution.broken}", remedy="Run `greenloop doctor`.")
    if verdict.status is Status.ENVIRONMENT:
        return replace(verdict, status=Status.FAILED)
    return verdict


async def accept(
    bench: Bench, open_session: Open, files: Mapping[str, str], tests: Mapping[str, str]
) -> tuple[Verdict, Evidence]:
    """The whole proof, in a fresh sandbox; `tests` are the user's test files by path, for the canary.

    A verdict that is not passed says why: a pass that does not repeat, a neighbour that broke, a fooled canary.
    """
    session = await open_session()
    try:
        verdict = await verify(bench, session, files, hash_seed=ACCEPTING)
        if verdict.status is not Status.PASSED:
            return verdict, Evidence()
        laid = {**bench.problem.buffers, **bench.encode(files)}
        again = Run(
            selectors=bench.problem.spec.selectors, files=laid, seconds=bench.limits.seconds, hash_seed=REPEATING
        )
        execution = await session.run(again)
        repeated = of_candidate(judge(bench.expected, bench.outcomes, execution), execution)
        if repeated.status is not Status.PASSED:
            return replace(repeated, reason=f"It passed once and then did not: {repeated.reason}".strip()), Evidence()
        ran = {result.id for result in verdict.cases if result.passed}
        cases = [case for case in bench.problem.spec.cases if case.provenance is Provenance.USER and case.id in ran]
        fooled, canaried = await _canary(bench, session, laid, tests, cases)
        seconds = verdict.seconds + repeated.seconds
        if fooled:
            return replace(verdict, status=Status.TAMPERED, reason=fooled, seconds=seconds), Evidence()
        return replace(verdict, seconds=seconds), evidence(bench, verdict, session.name, canaried, len(cases))
    finally:
        await session.close()


async def _canary(
    bench: Bench, session: Session, laid: Mapping[str, bytes], tests: Mapping[str, str], cases: Sequence[Case]
) -> tuple[str, int]:
    """Twins of the user's test files whose assertions are turned round: (why it was fooled, how many cases)."""
    twins = {path: canary.twins(text) for path, text in tests.items()}
    touched: set[str] = set()
    for mode in canary.Mode:
        wanted = [
            case.id
            for case in cases
            if case.path in twins and canary.function_of(case.id) in twins[case.path].mutated[mode]
        ]
        if not wanted:
            continue
        paths = {case.path for case in cases if case.id in wanted}
        files = {**laid, **bench.encode({path: twins[path].texts[mode] for path in paths})}
        run = Run(selectors=selectors(wanted), files=files, seconds=bench.limits.seconds, hash_seed=ACCEPTING)
        execution = await session.run(run)
        if execution.broken:
            raise CannotVerify(f"The sandbox broke: {execution.broken}", remedy="Run `greenloop doctor`.")
        found = {result.id: result for result in parse(execution)}
        results = [found.get(case) or CaseResult(id=case, outcome="missing") for case in wanted]
        names = frozenset(canary.function_of(case) for case in wanted)
        if caught := canary.violations(mode, names, results):
            return TURNED[mode].format(case=caught[0]), len(touched)
        touched.update(wanted)
    return "", len(touched)


def evidence(bench: Bench, verdict: Verdict, sandbox: str, canaried: int, total: int) -> Evidence:
    counts: dict[str, tuple[int, int]] = {}
    passed = {case.id for case in verdict.cases if case.passed}
    for case in bench.problem.spec.cases:
        good, every = counts.get(case.provenance, (0, 0))
        counts[case.provenance] = (good + (case.id in passed), every + 1)
    green = sum(bench.outcomes.get(case) == "passed" for case in bench.problem.neighbours)
    red = sum(bench.outcomes.get(case) in {"failed", "error", "missing"} for case in bench.problem.neighbours)
    return Evidence(
        sandbox=sandbox,
        cases=counts,
        neighbours_unchanged=green,
        neighbours_already_failing=red,
        neighbours_left_out=bench.left_out,
        canaried=canaried,
        canary_total=total,
    )


def selectors(ids: Sequence[str]) -> tuple[str, ...]:
    """The ids themselves, or their files when there are too many for one command line."""
    if len(ids) <= MOST_SELECTORS:
        return tuple(ids)
    return tuple(dict.fromkeys(case.split("::", 1)[0] for case in ids))
