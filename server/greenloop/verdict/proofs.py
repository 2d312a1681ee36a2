"""What speaks for a pass beyond the tests' own word: the twins of the canary, a repeat, the oracle in two processes.

Every run here is one more fork in the session that accepts; one run serves two purposes where it can.
It must not know where candidates come from.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.ports import Session
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, TestRun
from greenloop.core.records.spec import Case
from greenloop.core.records.verdict import CaseResult, Status, Verdict
from greenloop.core.report import case_results, describe_end, records_of_kind
from greenloop.core.selectors import fit_selectors
from greenloop.core.verdict import forged, judge
from greenloop.verdict import canary
from greenloop.verdict.inputs import VerificationInputs, check_sandbox, judge_candidate

# So many cases are asked again alone before the rest of them is put down to the first.
MOST_ALONE = 20

TURNED = {
    canary.Mode.EQUAL: "{case} fails when its assertion is rewritten without changing its meaning.",
    canary.Mode.NEGATED: "{case} passes even when its assertion is negated.",
    canary.Mode.LITERAL: "{case} passes even when its expected value is changed.",
}


# -- the canary and the repeat ----------------------------------------------------------------------------------


async def check_tampering(
    inputs: VerificationInputs,
    session: Session,
    files: Mapping[str, str],
    tests: Mapping[str, str],
    cases: Sequence[Case],
) -> tuple[Verdict | None, set[str]]:
    """(why this is no pass, or None; the cases that could be turned round).

    `cases` are those of the user that passed, `tests` the texts they stand in. Every twin runs all target cases, in the
    order in which they have passed. The twin that means the same is the repeat.
    """
    twins = {path: canary.make_canaries(text) for path, text in tests.items()}
    turned: set[str] = set()
    for mode in canary.Mode:
        homes = {case.id: file_of(case, tests) for case in cases if file_of(case, tests) in twins}
        wanted = {case.id for case in cases if case.id in homes and _name(case) in twins[homes[case.id]].mutated[mode]}
        if not wanted and mode is not canary.Mode.EQUAL:
            continue
        paths = {homes[case] for case in wanted}
        run = inputs.test_run({**files, **{path: twins[path].texts[mode] for path in paths}})
        if mode is not canary.Mode.EQUAL:
            run = replace(run, seconds=2 * run.seconds)  # failures take longer to tell, and to shrink
        execution = await session.run(run)
        if mode is canary.Mode.EQUAL:
            worse = await _repeat(inputs, session, inputs.test_run(files), execution, wanted)
            settled: set[str] = set()  # it can accuse; only what failed as it must speaks for the others
        else:
            worse, caught, settled = _run_canary(mode, execution, wanted)
            if worse is None and caught:
                worse = await _confirm_violation(inputs, session, mode, inputs.test_run(files), run, caught)
        if worse is not None:
            return worse, set()
        turned |= settled
    return None, turned


def file_of(case: Case, tests: Mapping[str, str]) -> str:
    """The file a case stands in: that of its id where greenloop wrote it, else where the user reads it."""
    written = case.id.partition("::")[0]
    return written if case.source and written in tests else case.path


def _name(case: Case) -> str:
    return canary.function_of(case.id)


async def _repeat(
    inputs: VerificationInputs, session: Session, unchanged: TestRun, execution: Execution, wanted: set[str]
) -> Verdict | None:
    """Why the twin that means the same is no pass: chance where the unchanged tests fail again too, else tampering."""
    verdict = inputs.judge(execution)
    if verdict.status is Status.PASSED:
        return None
    caught = sorted(wanted - {case.id for case in verdict.cases if case.passed})
    if verdict.status is not Status.FAILED or not caught:
        return _unstable(verdict)
    again = await session.run(unchanged)
    second = inputs.judge(again)
    if second.status is not Status.PASSED:
        return _unstable(second)
    return replace(second, status=Status.TAMPERED, reason=TURNED[canary.Mode.EQUAL].format(case=caught[0]))


def _run_canary(
    mode: canary.Mode, execution: Execution, wanted: set[str]
) -> tuple[Verdict | None, tuple[str, ...], set[str]]:
    """(why the run itself is no proof, the cases that did not do what they must, those that did)."""
    check_sandbox(execution)
    if lie := forged(execution):
        return Verdict(status=Status.TAMPERED, reason=lie, output=execution.output), (), set()
    # Of a large suite turned round some test may wait for ever; those that were told by then are proof, others none.
    partly = execution.killed == "timeout" and len(wanted) > MOST_ALONE
    if execution.killed and not partly:
        status = Status.TIMEOUT if execution.killed == "timeout" else Status.CRASHED
        reason = f"It passed, but its tamper check was stopped: {describe_end(execution)}."
        return Verdict(status=status, reason=reason, output=execution.output, seconds=execution.seconds), (), set()
    results = [result for result in case_results(execution) if result.id in wanted]
    if partly:
        results = [result for result in results if not _is_cut_short(result)]
        wanted = {result.id for result in results}
    lost = wanted - {result.id for result in results}
    results += [CaseResult(id=case, outcome="missing") for case in sorted(lost)]
    names = frozenset(map(canary.function_of, wanted))
    return None, canary.find_violations(mode, names, results), set(canary.confirmed_cases(mode, names, results))


def _is_cut_short(result: CaseResult) -> bool:
    return result.outcome == "missing" or (result.failure is not None and result.failure.type == "Timeout")


async def _confirm_violation(
    inputs: VerificationInputs,
    session: Session,
    mode: canary.Mode,
    unchanged: TestRun,
    turned: TestRun,
    caught: Sequence[str],
) -> Verdict | None:
    """Tampering, where a case does the same alone and its unchanged twin, alone as well, passes; else None.

    A test that failed in the middle may leave a state in which a later one passes as it should not; and chance is
    nobody's trick.
    """
    for case in caught[:MOST_ALONE]:
        alone = await session.run(replace(turned, selectors=(case,)))
        worse, still, _settled = _run_canary(mode, alone, {case})
        if worse is not None:
            return worse
        if not still:
            continue
        plain = await session.run(replace(unchanged, selectors=(case,)))
        verdict = judge_candidate((case,), inputs.outcomes, plain)
        if verdict.status is Status.PASSED:
            return replace(verdict, status=Status.TAMPERED, reason=TURNED[mode].format(case=case))
        return _unstable(verdict)
    return None


def _unstable(verdict: Verdict) -> Verdict:
    return replace(verdict, reason=f"It passed once, then failed: {verdict.reason}".strip().rstrip(":"))


# -- the oracle -------------------------------------------------------------------------------------------------


async def count_isolated_passes(
    inputs: VerificationInputs, session: Session, files: Mapping[str, str], cases: Sequence[Case]
) -> int:
    """How many of these cases pass while the candidate's code is in another process: all of them, or none.

    None says nothing against the candidate: objects, callbacks and patched modules do not fit in there.
    """
    module = _module(inputs.problem, files)
    if not module or not cases:
        return 0
    wanted = [case.id for case in cases]
    execution = await session.run(replace(inputs.test_run(files), selectors=fit_selectors(wanted), oracle=(module,)))
    told = list(records_of_kind(execution, "oracle"))
    if len(told) != 1 or told[0].get("unfit") != "" or not told[0].get("calls"):
        return 0
    return len(wanted) if judge(wanted, inputs.outcomes, execution).status is Status.PASSED else 0


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
