"""Evidence for a pass beyond the test results: the tamper check by canaries, a repeat, and the isolated pass (oracle).

Every run here is one more fork in the accepting session; one run serves two purposes where it can.
It must not know where candidates come from.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.ports import Session
from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import Execution, TestRun
from greenloop.core.records.spec import Case
from greenloop.core.records.verdict import CaseResult, Status, Verdict
from greenloop.core.report.cases import case_results, describe_end, records_of_kind
from greenloop.core.test_selection import fit_selectors
from greenloop.core.verdict import forged, judge
from greenloop.verdict import canary
from greenloop.verdict.inputs import VerificationInputs, check_sandbox, judge_candidate

# At most so many suspicious cases are re-run alone; the rest are attributed to the state that earlier ones left.
MOST_ALONE = 20

VIOLATION_REASONS = {
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
    """Runs the canaries; returns the verdict against the pass (None: nothing found) and the confirmed case ids.

    `cases` are the user's cases that passed, `tests` the texts of their files. Every canary runs all target cases, in
    the order in which they passed. The canary with an equivalent assertion is also the repeat.
    """
    canaries = {path: canary.make_canaries(text) for path, text in tests.items()}
    confirmed: set[str] = set()
    for mode in canary.Mode:
        file_by_case = {case.id: file_of(case, tests) for case in cases if file_of(case, tests) in canaries}
        mutated_cases = {
            case.id
            for case in cases
            if case.id in file_by_case and _function_name(case) in canaries[file_by_case[case.id]].mutated[mode]
        }
        if not mutated_cases and mode is not canary.Mode.EQUAL:
            continue
        paths = {file_by_case[case] for case in mutated_cases}
        run = inputs.test_run({**files, **{path: canaries[path].texts[mode] for path in paths}})
        if mode is not canary.Mode.EQUAL:
            run = replace(run, seconds=2 * run.seconds)  # failures take longer to report, and to shrink
        execution = await session.run(run)
        if mode is canary.Mode.EQUAL:
            failure = await _repeat(inputs, session, inputs.test_run(files), execution, mutated_cases)
            confirmed_in_run: set[str] = set()  # it can only accuse; evidence comes from the canaries that must fail
        else:
            failure, violations, confirmed_in_run = _read_canary(mode, execution, mutated_cases)
            if failure is None and violations:
                failure = await _confirm_violation(inputs, session, mode, inputs.test_run(files), run, violations)
        if failure is not None:
            return failure, set()
        confirmed |= confirmed_in_run
    return None, confirmed


def file_of(case: Case, tests: Mapping[str, str]) -> str:
    """Returns the file of a case: that of its id where greenloop wrote it, else the one that the user sees."""
    generated = case.id.partition("::")[0]
    return generated if case.source and generated in tests else case.path


def _function_name(case: Case) -> str:
    return canary.function_of(case.id)


async def _repeat(
    inputs: VerificationInputs, session: Session, unmutated: TestRun, execution: Execution, mutated_cases: set[str]
) -> Verdict | None:
    """Judges the equivalent canary: a failure is chance where the unmutated tests fail again too, else tampering."""
    verdict = inputs.judge(execution)
    if verdict.status is Status.PASSED:
        return None
    violations = sorted(mutated_cases - {case.id for case in verdict.cases if case.passed})
    if verdict.status is not Status.FAILED or not violations:
        return _unstable(verdict)
    repeat = await session.run(unmutated)
    second = inputs.judge(repeat)
    if second.status is not Status.PASSED:
        return _unstable(second)
    return replace(
        second, status=Status.TAMPERED, reason=VIOLATION_REASONS[canary.Mode.EQUAL].format(case=violations[0])
    )


def _read_canary(
    mode: canary.Mode, execution: Execution, mutated_cases: set[str]
) -> tuple[Verdict | None, tuple[str, ...], set[str]]:
    """Returns why the run itself proves nothing (or None), the violating cases, and the confirmed ones."""
    check_sandbox(execution)
    if forgery := forged(execution):
        return Verdict(status=Status.TAMPERED, reason=forgery, output=execution.output), (), set()
    # In a large mutated suite some test may wait for ever; only the cases reported before the timeout count.
    is_partial = execution.killed == "timeout" and len(mutated_cases) > MOST_ALONE
    if execution.killed and not is_partial:
        status = Status.TIMEOUT if execution.killed == "timeout" else Status.CRASHED
        reason = f"It passed, but its tamper check was stopped: {describe_end(execution)}."
        return Verdict(status=status, reason=reason, output=execution.output, seconds=execution.seconds), (), set()
    results = [result for result in case_results(execution) if result.id in mutated_cases]
    if is_partial:
        results = [result for result in results if not _is_cut_short(result)]
        mutated_cases = {result.id for result in results}
    missing = mutated_cases - {result.id for result in results}
    results += [CaseResult(id=case, outcome="missing") for case in sorted(missing)]
    names = frozenset(map(canary.function_of, mutated_cases))
    return None, canary.find_violations(mode, names, results), set(canary.confirmed_cases(mode, names, results))


def _is_cut_short(result: CaseResult) -> bool:
    return result.outcome == "missing" or (result.failure is not None and result.failure.type == "Timeout")


async def _confirm_violation(
    inputs: VerificationInputs,
    session: Session,
    mode: canary.Mode,
    unmutated: TestRun,
    mutated: TestRun,
    violations: Sequence[str],
) -> Verdict | None:
    """Reports tampering where a case violates again alone and its unmutated test, also alone, passes; else None.

    A test that failed midway may leave a state in which a later one passes although it should not, and a flaky result
    is not tampering.
    """
    for case in violations[:MOST_ALONE]:
        alone = await session.run(replace(mutated, selectors=(case,)))
        failure, repeated, _confirmed = _read_canary(mode, alone, {case})
        if failure is not None:
            return failure
        if not repeated:
            continue
        control = await session.run(replace(unmutated, selectors=(case,)))
        verdict = judge_candidate((case,), inputs.outcomes, control)
        if verdict.status is Status.PASSED:
            return replace(verdict, status=Status.TAMPERED, reason=VIOLATION_REASONS[mode].format(case=case))
        return _unstable(verdict)
    return None


def _unstable(verdict: Verdict) -> Verdict:
    return replace(verdict, reason=f"It passed once, then failed: {verdict.reason}".strip().rstrip(":"))


# -- the oracle -------------------------------------------------------------------------------------------------


async def count_isolated_passes(
    inputs: VerificationInputs, session: Session, files: Mapping[str, str], cases: Sequence[Case]
) -> int:
    """Returns how many of these cases pass while the candidate's code runs in another process: all of them, or none.

    Zero is no evidence against the candidate: objects, callbacks and patched modules cannot cross the process boundary.
    """
    module = _changed_module(inputs.problem, files)
    if not module or not cases:
        return 0
    case_ids = [case.id for case in cases]
    execution = await session.run(replace(inputs.test_run(files), selectors=fit_selectors(case_ids), oracle=(module,)))
    oracle_records = list(records_of_kind(execution, "oracle"))
    if len(oracle_records) != 1 or oracle_records[0].get("unfit") != "" or not oracle_records[0].get("calls"):
        return 0
    return len(case_ids) if judge(case_ids, inputs.outcomes, execution).status is Status.PASSED else 0


def _changed_module(problem: Problem, files: Mapping[str, str]) -> str:
    """Returns the name of the one changed module if only plain functions of it change, else ""."""
    if len(files) != 1 or {region.path for region in problem.regions} != set(files):
        return ""
    ((path, text),) = files.items()
    try:
        functions = {
            node.name: node
            for node in parse_module_strictly(text.removeprefix("\ufeff")).body
            if isinstance(node, ast.FunctionDef)
        }
    except UNPARSABLE:
        return ""
    if not path.endswith(".py") or any(region.qualname not in functions for region in problem.regions):
        return ""
    parts = path.removesuffix(".py").split("/")
    start = len(parts) - 1
    while start and (problem.root.joinpath(*parts[:start]) / "__init__.py").is_file():
        start -= 1
    return ".".join(parts[start:]).removesuffix(".__init__")
