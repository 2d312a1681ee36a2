"""Decides whether an execution passes: a pure function of expected cases, baseline and execution.

This is the only such place; all back ends share it. A report with missing, repeated, unordered or contradictory records
is not a pass. Of the measured fakes only assertion-level ones survive these rules; they fail where the code runs apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.records.verdict import Status, Verdict
from greenloop_sandbox import CaseResult, Execution, Failure, case_results, collected_cases, forged
from greenloop_sandbox.report.cases import collect_errors, describe_end, records_of_kind


def judge(expected: Sequence[str], baseline: Mapping[str, str], execution: Execution) -> Verdict:
    """The verdict on an execution, with the reason where it did not pass.

    `expected` are the ids collected with the user's own code before any candidate; `baseline` has their outcomes then.
    A skip or an expected failure counts as good only where the baseline had the same.
    """
    trusted = execution if not forged(execution) else replace(execution, records=())
    results = {result.id: result for result in case_results(trusted)}
    cases = tuple(results.get(case) or _missing(case, trusted) for case in expected)
    status, reason = _status(expected, baseline, execution, cases)
    return Verdict(
        status=status,
        cases=cases,
        reason=reason,
        output=execution.output,
        seconds=execution.seconds,
    )


def _status(
    expected: Sequence[str], baseline: Mapping[str, str], execution: Execution, cases: Sequence[CaseResult]
) -> tuple[Status, str]:
    if execution.broken:
        return Status.ENVIRONMENT, execution.broken
    if tampering := forged(execution):
        return Status.TAMPERED, tampering
    if execution.killed:
        return (
            Status.TIMEOUT if execution.killed == "timeout" else Status.CRASHED
        ), f"The run was stopped: {describe_end(execution)}."
    if not collected_cases(execution):
        return _nothing_collected(execution)
    finished = next(records_of_kind(execution, "finished"), None)
    if finished is None:
        return _ended_early(execution)
    if tampering := _contradiction(expected, execution, finished):
        return Status.TAMPERED, tampering
    for case in cases:
        if case.outcome == "missing":
            return _never_ran(case, execution)
        if case.outcome in {"skipped", "xfailed", "xpassed"} and baseline.get(case.id) == "missing":
            return Status.FAILED, f"{case.id} was {case.outcome}, and with your own code it did not end."
        if case.outcome in {"skipped", "xfailed", "xpassed"} and baseline.get(case.id) != case.outcome:
            return Status.TAMPERED, f"{case.id} was {case.outcome}, but not with your own code."
    all_pass = all(case.passed or baseline.get(case.id) == case.outcome == "skipped" for case in cases)
    if not expected or not any(case.passed for case in cases):
        return Status.FAILED, "" if expected else "No test was expected, so nothing can pass."
    if all_pass and execution.status != 0 and not _others_failed(expected, execution):
        return Status.FAILED, f"Every case passed, but pytest exited with status {execution.status}."
    return (Status.PASSED, "") if all_pass else (Status.FAILED, "")


def _contradiction(expected: Sequence[str], execution: Execution, finished: Mapping[str, object]) -> str:
    if execution.status != finished.get("status"):
        return f"pytest reported status {finished.get('status')}, the process exited with {execution.status}."
    if sum(1 for _ in records_of_kind(execution, "collected")) != 1:
        return "The collection was reported more than once."
    ids = Counter(case.id for case in collected_cases(execution))
    if repeated := next((case for case, times in ids.items() if times > 1), None):
        return f"{repeated} was collected twice."
    deselected = {
        str(case) for record in records_of_kind(execution, "collected") for case in record.get("deselected", ())
    }
    if missing_case := next((case for case in expected if case in deselected), None):
        return f"{missing_case} was deselected."
    return ""


def _nothing_collected(execution: Execution) -> tuple[Status, str]:
    errors = collect_errors(execution)
    if errors:
        failure = errors[0].failure
        return Status.NOT_COLLECTED, f"{errors[0].id} cannot be collected: {failure.type}: {failure.message}"
    if next(records_of_kind(execution, "finished"), None) is None:
        return _ended_early(execution)
    return Status.NOT_COLLECTED, "pytest collected no test."


def _ended_early(execution: Execution) -> tuple[Status, str]:
    """Judges a process that ended before pytest finished: an exit, a signal, or a crash of the interpreter."""
    status = execution.status
    if status is not None and status < 0:
        return Status.CRASHED, f"The process was killed by signal {-status}."
    if status == 0:
        return Status.TAMPERED, "The process exited with status 0 before the tests finished."
    return Status.CRASHED, f"The process exited with status {status} before the tests finished."


def _never_ran(case: CaseResult, execution: Execution) -> tuple[Status, str]:
    if collect_errors(execution):
        error = collect_errors(execution)[0]
        return Status.NOT_COLLECTED, f"{error.id} cannot be collected: {error.failure.type}: {error.failure.message}"
    function, bracket, _parameters = case.id.partition("[")
    collected = [each.id for each in collected_cases(execution)]
    if bracket and case.id not in collected and any(each.startswith(f"{function}[") for each in collected):
        return Status.FAILED, f"{case.id} is gone: its parameters come from code that changed."
    message = case.failure.message if case.failure else "it did not run"
    return Status.TAMPERED, f"{case.id} has no complete result: {message}."


def _others_failed(expected: Sequence[str], execution: Execution) -> bool:
    """Did cases fail that are not the target's? A selector may include some; these are collateral, judged elsewhere."""
    targets = set(expected)
    return any(not result.passed for result in case_results(execution) if result.id not in targets)


def _missing(case: str, execution: Execution) -> CaseResult:
    if errors := collect_errors(execution):
        return CaseResult(id=case, outcome="missing", failure=errors[0].failure)
    if execution.killed:
        kind = "Timeout" if execution.killed == "timeout" else "Killed"
        return CaseResult(id=case, outcome="missing", failure=Failure(type=kind, message=describe_end(execution)))
    return CaseResult(id=case, outcome="missing", failure=Failure(type="Missing", message="it was not collected"))
