"""Runs the related tests over a candidate that its change can affect.

A test that newly fails is repeated alone, and compared with the user's own code, before it counts against a candidate.
It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.verification_inputs import VerificationInputs, check_sandbox
from greenloop.verdict.related_tests.own_code import CUT_SHORT, own_run, select
from greenloop_sandbox import CaseResult, Execution, Failure, Session, TestRun, case_results, forged

RED = ("failed", "error")
NEAREST = 20  # related tests that run before the others: what breaks the code around it mostly breaks one of them
REPEATED = 3
OWN_TIMES = 3  # how often a test that fails time after time must pass with the user's own code
UNFINISHED = "the test did not run to its end"
FIRST_SECONDS = 3.0  # of related tests that run with the target; slower suites go on after the result is offered


def postpone(
    inputs: VerificationInputs, files: Mapping[str, str], durations: Mapping[str, float]
) -> VerificationInputs:
    """Returns the inputs with only the nearest related tests, and the others first among those that run later.

    `durations` are seconds with the user's own code. Tests that failed with it are never postponed.
    """
    before, later = 0.0, []
    for case in inputs.related(files):
        seconds = durations.get(case, 0.0)
        if before + seconds > FIRST_SECONDS and inputs.outcomes.get(case) == "passed":
            later.append(case)
        else:
            before += seconds
    kept = tuple(case for case in inputs.problem.neighbours if case not in {*later})
    problem = replace(inputs.problem, neighbours=kept)
    return replace(inputs, problem=problem, unmeasured=(*later, *inputs.unmeasured))


async def run_related(
    inputs: VerificationInputs, session: Session, verdict: Verdict, test_run: TestRun, files: Mapping[str, str]
) -> Verdict:
    """Runs the related tests; fails where one that passed with the user's code fails now and again when repeated.

    The nearest run first, and the others only if those pass.
    A test that passes on repetition is flaky and does not count. It is repeated alone first; if it passes alone, the
    whole run is repeated, because a test that fails only after other tests is not flaky.
    """
    related = inputs.related(files)
    verdict = count_unaffected(inputs, verdict, related)
    limit = inputs.limits.seconds
    every = replace(select(test_run, related), seconds=inputs.suite_seconds, case_seconds=limit)
    nearest = related[:NEAREST] if len(related) > 2 * NEAREST else ()
    end = verdict.seconds + inputs.suite_seconds
    for cases in (nearest, related[len(nearest) :]):
        if not cases or verdict.status is not Status.PASSED:
            continue
        if end <= verdict.seconds:
            left_out = sum(inputs.outcomes.get(case) == "passed" for case in cases)
            return replace(verdict, related=verdict.related.without(left_out))
        run = replace(select(test_run, cases), seconds=end - verdict.seconds, case_seconds=limit)
        verdict = await _run_and_repeat(inputs, session, verdict, run, cases, every)
    return verdict


async def _run_and_repeat(
    inputs: VerificationInputs,
    session: Session,
    verdict: Verdict,
    run: TestRun,
    cases: Sequence[str],
    every: TestRun,
) -> Verdict:
    """Runs these related tests; a few of those that fail are repeated, for one is enough to refuse the candidate."""
    verdict, failing, left_out = await _run_once(inputs, session, verdict, run, cases)
    verdict = replace(verdict, related=verdict.related.without(left_out))
    first, others = failing[:REPEATED], failing[REPEATED:]
    while verdict.status is Status.PASSED and first:
        repeated = tuple(case.id for case in first)
        for again in (select(run, repeated), run):
            verdict, still_failing, _left_out = await _run_once(inputs, session, verdict, again, repeated)
            if verdict.status is not Status.PASSED:
                return verdict
            if still_failing:
                broken = await _certainly_broken(inputs, session, again, still_failing, every)
                if broken:
                    return fail_for_related(verdict, [*broken, *others])
                verdict = replace(verdict, flaky=(*verdict.flaky, *(case.id for case in still_failing)))
                break
        else:
            verdict = replace(verdict, flaky=(*verdict.flaky, *repeated))
        first, others = others, []
    return verdict


async def _certainly_broken(
    inputs: VerificationInputs, session: Session, run: TestRun, failing: Sequence[CaseResult], every: TestRun
) -> list[CaseResult]:
    """Returns the failing tests without those that fail by chance, or need others before them.

    One that fails by chance does not pass every time with the user's own code. One that needs others fails in the same
    run of the user's own code, but not after `every` related test, nor in its file.
    """
    if inputs.own is None:
        return [*failing]
    outcomes = await _outcomes_with_own(inputs, session, run)
    if certain := [each for each in failing if outcomes.get(each.id) == "passed"]:
        for _time in range(OWN_TIMES - 1):
            outcomes = await _outcomes_with_own(inputs, session, run)
            # A run that says nothing of a test excuses nothing.
            certain = [each for each in certain if outcomes.get(each.id) not in RED]
        return certain
    paths = tuple(dict.fromkeys(each.id.partition("::")[0] for each in failing))
    left = [*failing]
    for others in (every, replace(run, selectors=paths, only=(), seconds=inputs.suite_seconds)):
        execution = await session.run(others)
        check_sandbox(execution)
        left = newly_failing(inputs, execution, [each.id for each in left])[0]
    return left


async def _outcomes_with_own(inputs: VerificationInputs, session: Session, run: TestRun) -> dict[str, str]:
    """Returns the outcomes of the same run of the user's own code; none where its report cannot be trusted."""
    control = await session.run(own_run(inputs, run))
    check_sandbox(control)
    return {} if forged(control) else {result.id: result.outcome for result in case_results(control)}


async def _run_once(
    inputs: VerificationInputs, session: Session, verdict: Verdict, run: TestRun, neighbours: Sequence[str]
) -> tuple[Verdict, list[CaseResult], int]:
    """Returns the verdict with this run's time and forgery, the newly failing cases, and how many were not run."""
    execution = await session.run(run)
    check_sandbox(execution)
    verdict = compare_failures(inputs, replace(verdict, seconds=verdict.seconds + execution.seconds), execution)
    if forgery := forged(execution):
        return replace(verdict, status=Status.TAMPERED, reason=forgery), [], 0
    failing, left_out = newly_failing(inputs, execution, neighbours, case_seconds=run.case_seconds)
    return verdict, failing, left_out


def count_unaffected(inputs: VerificationInputs, verdict: Verdict, related: Collection[str]) -> Verdict:
    """Returns the verdict with the known results of all tests but these related ones, without running them.

    What fails for the same cause as the target, and never reaches the change, fails as before.
    """
    unaffected = sum(inputs.outcomes.get(case) == "passed" for case in {*inputs.problem.neighbours} - {*related})
    unreached = tuple(case for case in inputs.problem.siblings if case not in related)
    return replace(verdict, related=replace(verdict.related, unaffected=unaffected), still_red=unreached)


def compare_failures(inputs: VerificationInputs, verdict: Verdict, execution: Execution) -> Verdict:
    """Returns the verdict with the results of the related tests that failed with the user's own code.

    Those that pass in this execution have turned green; of those that fail the ones in the target's files count.
    """
    files = {case.partition("::")[0] for case in inputs.expected}
    outcomes = {result.id: result.outcome for result in case_results(execution)}
    red = [case for case in inputs.problem.neighbours if inputs.outcomes.get(case) in RED]
    still_red = tuple(case for case in red if outcomes.get(case) in RED and case.partition("::")[0] in files)
    turned_green = tuple(case for case in red if outcomes.get(case) == "passed")
    return replace(
        verdict,
        still_red=tuple(dict.fromkeys((*verdict.still_red, *still_red))),
        turned_green=tuple(dict.fromkeys((*verdict.turned_green, *turned_green))),
    )


def newly_failing(
    inputs: VerificationInputs, execution: Execution, neighbours: Sequence[str], *, case_seconds: float = 0.0
) -> tuple[list[CaseResult], int]:
    """Returns the related tests that passed with the user's own code and do not pass in this execution.

    Also how many were not run because the time of all was used up, which speaks against none of them.
    """
    results = {result.id: result for result in case_results(execution)}
    failing, unfinished = [], []
    for case in neighbours:
        if inputs.outcomes.get(case) != "passed":
            continue
        result = results.get(case) or CaseResult(id=case, outcome="missing")
        if result.outcome == "missing" or is_out_of_time(result, execution, case_seconds):
            failure = result.failure or Failure(type="Missing", message=execution.killed or UNFINISHED)
            unfinished.append(replace(result, failure=failure))
        elif not result.passed:
            failing.append(result)
    ended_by_a_case = any(each.failure and each.failure.type in CUT_SHORT for each in failing)
    if execution.killed in {"timeout", "report"} or ended_by_a_case:
        return failing, len(unfinished)
    return [*failing, *unfinished], 0


def not_collected(verdict: Verdict) -> list[str]:
    """Returns the related tests that count against a candidate only because its run did not have them."""
    return [each.id for each in verdict.collateral if each.failure is not None and each.failure.type == "Missing"]


def is_out_of_time(result: CaseResult, execution: Execution, case_seconds: float) -> bool:
    """Was the case cut only because the time of all was used up, and not its own?"""
    is_cut = result.failure is not None and result.failure.type in CUT_SHORT
    return is_cut and execution.killed == "timeout" and not 0 < case_seconds <= execution.silent


def fail_for_related(verdict: Verdict, failing: Sequence[CaseResult]) -> Verdict:
    """Returns the verdict on a candidate that passes the target but breaks other tests."""
    names = ", ".join(result.id for result in failing[:3])
    reason = f"The target passes, but {len(failing)} other test(s) now fail: {names}"
    return replace(verdict, status=Status.FAILED, collateral=tuple(failing), reason=reason)
