"""What a candidate must survive: the target cases, its neighbours, another hash seed, a repeat, and the canary.

Calibration runs these with the user's own code; here the same runs are judged for a candidate.
It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.core import canary
from greenloop.core.errors import SandboxBroke
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
    network: bool = False

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
    return with_neighbours(replace(verdict, seconds=verdict.seconds + around.seconds), bench, around)


def with_neighbours(verdict: Verdict, bench: Bench, execution: Execution) -> Verdict:
    """Failed when a neighbour that passed with the user's code does not pass now."""
    if execution.broken:
        raise SandboxBroke(execution.broken)
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
    if not newly:
        return verdict
    names = ", ".join(result.id for result in newly[:3])
    reason = f"The target passes, but {len(newly)} other test(s) now fail: {names}"
    return replace(verdict, status=Status.FAILED, collateral=tuple(newly), reason=reason)


def of_candidate(verdict: Verdict, execution: Execution) -> Verdict:
    """With a candidate in it, only a broken sandbox is the environment's fault; a missing package is its own."""
    if execution.broken:
        raise SandboxBroke(execution.broken)
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
        laid = {**bench.problem.buffers, **bench.encode(files)}
        verdict = await _everything(bench, session, laid, files)
        if verdict.status is not Status.PASSED:
            return verdict, Evidence()
        ran = {result.id for result in verdict.cases if result.passed}
        cases = [case for case in bench.problem.spec.cases if case.provenance is Provenance.USER and case.id in ran]
        fooled, canaried, repeated = await _canary(bench, session, laid, tests, cases)
        if fooled:
            return replace(verdict, status=Status.TAMPERED, reason=fooled), Evidence()
        # The twin that means the same is a second run of its cases; only the others still need one.
        if again := [case for case in bench.expected if case not in repeated]:
            second = await _again(bench, session, laid, again)
            if second.status is not Status.PASSED:
                return replace(second, reason=f"It passed once and then did not: {second.reason}".strip()), Evidence()
        return verdict, evidence(bench, verdict, session.name, canaried, len(cases))
    finally:
        await session.close()


async def _everything(bench: Bench, session: Session, laid: Mapping[str, bytes], files: Mapping[str, str]) -> Verdict:
    """Target and neighbours in one run; they share a process as they do in the user's own suite."""
    around = selectors(bench.problem.neighbours)
    run = Run(
        selectors=tuple(dict.fromkeys((*bench.problem.spec.selectors, *around))),
        files=laid,
        seconds=bench.limits.seconds + (bench.suite_seconds if around else 0),
        hash_seed=ACCEPTING,
    )
    execution = await session.run(run)
    verdict = of_candidate(judge(bench.expected, bench.outcomes, execution), execution)
    if not around:
        return verdict
    if verdict.status is Status.PASSED:
        verdict = with_neighbours(verdict, bench, execution)
    # A neighbour may have spoilt the common run (ended it, used up its time); apart they are judged apart.
    return verdict if verdict.status is Status.PASSED else await verify(bench, session, files, hash_seed=ACCEPTING)


async def _again(bench: Bench, session: Session, laid: Mapping[str, bytes], cases: Sequence[str]) -> Verdict:
    doctests = any(case.provenance is Provenance.DOCTEST for case in bench.problem.spec.cases if case.id in cases)
    chosen = bench.problem.spec.selectors if doctests else selectors(cases)
    run = Run(selectors=chosen, files=laid, seconds=bench.limits.seconds, hash_seed=REPEATING)
    execution = await session.run(run)
    return of_candidate(judge(cases, bench.outcomes, execution), execution)


async def _canary(
    bench: Bench, session: Session, laid: Mapping[str, bytes], tests: Mapping[str, str], cases: Sequence[Case]
) -> tuple[str, int, set[str]]:
    """Twins of the user's test files whose assertions are turned round.

    Returns why it was fooled (or empty), how many cases could be turned round, and which of them ran once more
    unchanged in meaning.
    """
    twins = {path: canary.twins(text) for path, text in tests.items()}
    touched: set[str] = set()
    repeated: set[str] = set()
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
        run = Run(selectors=selectors(wanted), files=files, seconds=bench.limits.seconds, hash_seed=REPEATING)
        execution = await session.run(run)
        if execution.broken:
            raise SandboxBroke(execution.broken)
        found = {result.id: result for result in parse(execution)}
        results = [found.get(case) or CaseResult(id=case, outcome="missing") for case in wanted]
        names = frozenset(canary.function_of(case) for case in wanted)
        if caught := canary.violations(mode, names, results):
            return TURNED[mode].format(case=caught[0]), len(touched), repeated
        touched.update(wanted)
        if mode is canary.Mode.EQUAL:
            repeated = set(wanted)
    return "", len(touched), repeated


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
        network=bench.network,
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
