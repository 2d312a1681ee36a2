"""The only place where a pass is decided: a pure function of expected cases, baseline and execution.

Every back end shares it. Whatever is missing, repeated, out of order or contradicts itself is not a pass.
The rules are those that none of the measured fakes but assertion-level ones survives; those are the canary's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenloop.core.nouns import CaseResult, Execution, Failure, Status, Verdict
from greenloop.core.records import collect_errors, collected, end_of, of_kind, results
from greenloop.core.shapes import well_formed


def judge(expected: Sequence[str], baseline: Mapping[str, str], execution: Execution) -> Verdict:
    """Passed, or why not.

    `expected` are the ids collected with the user's own code before any candidate; `baseline` their outcomes then.
    A skip or an expected failure counts as good only where the baseline had the same.
    """
    told = execution if not forged(execution) else replace(execution, records=())
    found = {result.id: result for result in results(told)}
    cases = tuple(found.get(case) or _missing(case, told) for case in expected)
    status, reason = _status(expected, baseline, execution, cases)
    return Verdict(status=status, cases=cases, reason=reason, output=execution.output, seconds=execution.seconds)


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
        ), f"The run was stopped: {end_of(execution)}."
    if not collected(execution):
        return _nothing_collected(execution)
    ended = next(of_kind(execution, "finished"), None)
    if ended is None:
        return _ended_early(execution)
    if tampering := _contradiction(expected, execution, ended):
        return Status.TAMPERED, tampering
    for case in cases:
        if case.outcome == "missing":
            return _never_ran(case, execution)
        if case.outcome in {"skipped", "xfailed", "xpassed"} and baseline.get(case.id) != case.outcome:
            return Status.TAMPERED, f"{case.id} was {case.outcome}; with your own code it was not."
    good = all(case.passed or baseline.get(case.id) == case.outcome == "skipped" for case in cases)
    if not expected or not any(case.passed for case in cases):
        return Status.FAILED, "" if expected else "No case was expected, so nothing can pass."
    if good and execution.status != 0 and not _others_failed(expected, execution):
        return Status.FAILED, f"Every case passed, but pytest ended with status {execution.status}."
    return (Status.PASSED, "") if good else (Status.FAILED, "")


def forged(execution: Execution) -> str:
    """A break in the sequence, a line that does not carry the key or has no known form, or a phase told twice.

    Empty for a report that may be read; only such a report is safe for the readers in `records.py`.
    """
    for number, record in enumerate(execution.records):
        if record.get("kind") == "forged":
            return "The report holds a line that the test runner did not write."
        if record.get("seq") != number:
            return f"The report breaks off its sequence at {number}."
        if not well_formed(record):
            return f"Record {number} of the report has a form that the test runner never writes."
    # Subtests report a call each, all of which count; nothing else is ever told twice.
    phases = (record for record in of_kind(execution, "phase") if record.get("when") != "call")
    told = Counter((record.get("id"), record.get("when")) for record in phases)
    twice = next((case for (case, _when), times in told.items() if times > 1), None)
    if twice and not any(record.get("reruns") for record in of_kind(execution, "start")):
        return f"{twice} was reported twice."
    for record in of_kind(execution, "phase"):
        if lie := _lie(record):
            return lie
    return ""


def _lie(record: Mapping[str, object]) -> str:
    """The exception comes from the call itself; the outcome from a report that a candidate may have patched."""
    if record.get("type") is not None and record.get("outcome") == "passed" and record.get("wasxfail") is None:
        return f"{record.get('id')} raised {record.get('type')} and was reported as passed."
    return ""


def _contradiction(expected: Sequence[str], execution: Execution, ended: Mapping[str, object]) -> str:
    if execution.status != ended.get("status"):
        return f"pytest reported status {ended.get('status')}, the process ended with {execution.status}."
    if sum(1 for _ in of_kind(execution, "collected")) != 1:
        return "The collection was reported more than once."
    ids = Counter(case.id for case in collected(execution))
    if repeated := next((case for case, times in ids.items() if times > 1), None):
        return f"{repeated} was collected twice."
    deselected = {str(case) for record in of_kind(execution, "collected") for case in record.get("deselected", ())}
    if gone := next((case for case in expected if case in deselected), None):
        return f"{gone} was deselected."
    return ""


def _nothing_collected(execution: Execution) -> tuple[Status, str]:
    errors = collect_errors(execution)
    if errors:
        first = errors[0].failure
        return Status.NOT_COLLECTED, f"{errors[0].id} cannot be collected: {first.type}: {first.message}"
    if next(of_kind(execution, "finished"), None) is None:
        return _ended_early(execution)
    return Status.NOT_COLLECTED, "pytest collected no test."


def _ended_early(execution: Execution) -> tuple[Status, str]:
    """The process was gone before pytest had finished: an exit, a signal, or a crash of the interpreter."""
    status = execution.status
    if status is not None and status < 0:
        return Status.CRASHED, f"The process died of signal {-status}."
    if status == 0:
        return Status.TAMPERED, "The process ended itself with status 0 before the tests were done."
    return Status.CRASHED, f"The process ended itself with status {status} before the tests were done."


def _never_ran(case: CaseResult, execution: Execution) -> tuple[Status, str]:
    if collect_errors(execution):
        first = collect_errors(execution)[0]
        return Status.NOT_COLLECTED, f"{first.id} cannot be collected: {first.failure.type}: {first.failure.message}"
    why = case.failure.message if case.failure else "it did not run"
    return Status.TAMPERED, f"{case.id} has no complete result: {why}."


def _others_failed(expected: Sequence[str], execution: Execution) -> bool:
    """One selector may bring cases that are not the target's; their failing is judged as collateral elsewhere."""
    wanted = set(expected)
    return any(not result.passed for result in results(execution) if result.id not in wanted)


def _missing(case: str, execution: Execution) -> CaseResult:
    if errors := collect_errors(execution):
        return CaseResult(id=case, outcome="missing", failure=errors[0].failure)
    if execution.killed:
        limit = "Timeout" if execution.killed == "timeout" else "Killed"
        return CaseResult(id=case, outcome="missing", failure=Failure(type=limit, message=end_of(execution)))
    return CaseResult(id=case, outcome="missing", failure=Failure(type="Missing", message="it was not collected"))
