"""What speaks for a pass beyond the tests' own word: the twins of the canary, a repeat, the oracle in two processes.

Every run here is one more fork in the session that accepts; one run serves two purposes where it can.
It must not know where candidates come from.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.core import canary
from greenloop.core.errors import SandboxBroke
from greenloop.core.nouns import Case, CaseResult, Execution, Limits, Problem, Run, Status, Verdict
from greenloop.core.ports import Session
from greenloop.core.records import end_of, of_kind
from greenloop.core.verdict import forged, judge
from greenloop.runners.pytest import parse

# Hash seed of the accepting runs; the loop's own runs use 0.
ACCEPTING = 20_011
# More ids than this are selected by their files: a command line has an end.
MOST_SELECTORS = 400

TURNED = {
    canary.Mode.EQUAL: "{case} fails when its assertion is written in another way that means the same.",
    canary.Mode.NEGATED: "{case} does not fail as it must when its assertion is negated.",
    canary.Mode.LITERAL: "{case} does not fail as it must when what it expects is changed.",
}

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

    def run(self, files: Mapping[str, str], *, hash_seed: int = ACCEPTING) -> Run:
        """The target cases over these texts."""
        return Run(
            selectors=self.problem.spec.selectors,
            files={**self.problem.buffers, **self.encode(files)},
            seconds=self.limits.seconds,
            hash_seed=hash_seed,
        )


def of_candidate(verdict: Verdict, execution: Execution) -> Verdict:
    """With a candidate in it, only a broken sandbox is the environment's fault; a missing package is its own."""
    unbroken(execution)
    return replace(verdict, status=Status.FAILED) if verdict.status is Status.ENVIRONMENT else verdict


def unbroken(execution: Execution) -> None:
    """Raises `SandboxBroke` when the sandbox itself failed."""
    if execution.broken:
        raise SandboxBroke(execution.broken)


def selectors(ids: Sequence[str]) -> tuple[str, ...]:
    """The ids themselves, or their files when there are too many for one command line."""
    if len(ids) <= MOST_SELECTORS:
        return tuple(ids)
    return tuple(dict.fromkeys(case.split("::", 1)[0] for case in ids))


# -- the canary and the repeat ----------------------------------------------------------------------------------


async def canaried(
    bench: Bench, session: Session, files: Mapping[str, str], tests: Mapping[str, str], cases: Sequence[Case]
) -> tuple[Verdict | None, int]:
    """(why this is no pass, or None; how many cases could be turned round).

    `cases` are those of the user that passed, `tests` the texts they stand in. Every twin runs all target cases, in the
    order in which they have passed. The twin that means the same is the repeat.
    """
    twins = {path: canary.twins(text) for path, text in tests.items()}
    turned: set[str] = set()
    for mode in canary.Mode:
        wanted = {case.id for case in cases if case.path in twins and _name(case) in twins[case.path].mutated[mode]}
        if not wanted and mode is not canary.Mode.EQUAL:
            continue
        paths = {case.path for case in cases if case.id in wanted}
        execution = await session.run(bench.run({**files, **{path: twins[path].texts[mode] for path in paths}}))
        unbroken(execution)
        if mode is canary.Mode.EQUAL:
            verdict = of_candidate(judge(bench.expected, bench.outcomes, execution), execution)
            caught = sorted(wanted - {case.id for case in verdict.cases if case.passed})
            if execution.killed or (verdict.status is not Status.PASSED and not caught):
                return _once(verdict), 0
            settled = wanted
        else:
            if lie := forged(execution):
                return Verdict(status=Status.TAMPERED, reason=lie, output=execution.output), 0
            if execution.killed:
                return _stopped(execution), 0
            names = frozenset(map(canary.function_of, wanted))
            results = [result for result in _all(parse(execution), wanted) if result.id in wanted]
            caught = list(canary.violations(mode, names, results))
            settled = set(canary.settled(mode, names, results))
        if caught:
            return await _accused(bench, session, files, TURNED[mode].format(case=caught[0])), 0
        turned |= settled
    return None, len(turned)


def _name(case: Case) -> str:
    return canary.function_of(case.id)


def _all(results: Sequence[CaseResult], wanted: set[str]) -> list[CaseResult]:
    """In running order, and those that never ran behind them."""
    lost = wanted - {result.id for result in results}
    return [*results, *(CaseResult(id=case, outcome="missing") for case in sorted(lost))]


async def _accused(bench: Bench, session: Session, files: Mapping[str, str], why: str) -> Verdict:
    """Tampered, unless the unchanged tests do not pass again either: that is no trick but chance."""
    execution = await session.run(bench.run(files))
    verdict = of_candidate(judge(bench.expected, bench.outcomes, execution), execution)
    if verdict.status is not Status.PASSED:
        return _once(verdict)
    return replace(verdict, status=Status.TAMPERED, reason=why)


def _once(verdict: Verdict) -> Verdict:
    return replace(verdict, reason=f"It passed once and then did not: {verdict.reason}".strip().rstrip(":"))


def _stopped(execution: Execution) -> Verdict:
    status = Status.TIMEOUT if execution.killed == "timeout" else Status.CRASHED
    reason = f"It passed, but the run with assertions turned round was stopped: {end_of(execution)}."
    return Verdict(status=status, reason=reason, output=execution.output, seconds=execution.seconds)


# -- the oracle -------------------------------------------------------------------------------------------------


async def out_of_process(bench: Bench, session: Session, files: Mapping[str, str], cases: Sequence[Case]) -> int:
    """How many of these cases pass while the candidate's code is in another process: all of them, or none.

    None says nothing against the candidate: objects, callbacks and patched modules do not fit in there.
    """
    module = _module(bench.problem, files)
    if not module or not cases:
        return 0
    wanted = [case.id for case in cases]
    execution = await session.run(replace(bench.run(files), selectors=selectors(wanted), oracle=(module,)))
    told = list(of_kind(execution, "oracle"))
    if len(told) != 1 or told[0].get("unfit") != "" or not told[0].get("calls"):
        return 0
    return len(wanted) if judge(wanted, bench.outcomes, execution).status is Status.PASSED else 0


def _module(problem: Problem, files: Mapping[str, str]) -> str:
    """The name of the one module that is changed, where all that changes in it are plain functions; else ""."""
    if len(files) != 1 or {region.path for region in problem.regions} != set(files):
        return ""
    ((path, text),) = files.items()
    try:
        top = {
            node.name: node for node in ast.parse(text.removeprefix("\ufeff")).body if isinstance(node, ast.FunctionDef)
        }
    except (SyntaxError, ValueError):
        return ""
    if not path.endswith(".py") or any(region.qualname not in top for region in problem.regions):
        return ""
    parts = path.removesuffix(".py").split("/")
    start = len(parts) - 1
    while start and (problem.root.joinpath(*parts[:start]) / "__init__.py").is_file():
        start -= 1
    return ".".join(parts[start:])
