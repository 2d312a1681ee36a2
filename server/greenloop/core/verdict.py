"""What an execution proves. One pure function that every back end shares; the only place where a pass is decided.

A pass needs all of: nothing was killed, the sandbox held, the report's seals fit and its sequence has no gap, exactly
the expected cases were collected, each has its three phases, all of them passed without an exception, pytest came to
its own end, and its exit status by waitpid is the one it reported. Everything else is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from greenloop.core.nouns import CaseResult, Execution, Failure, Status, Verdict
from greenloop.core.records import FAILING, collect_errors, collected, end_of, of_kind, results

# Outcomes that are accepted where the baseline had the very same one.
_TOLERATED = frozenset({"skipped", "xfailed", "xpassed"})
_NETWORK = (
    "Network is unreachable",
    "name resolution",
    "Name or service not known",
    "No address associated",
    "getaddrinfo",
)
_READ_ONLY = ("Read-only file system", "[Errno 30]")


def judge(
    expected: Sequence[str],
    baseline: Mapping[str, str],
    execution: Execution,
    neighbours: Sequence[str] = (),
    *,
    local: Collection[str] = (),
) -> Verdict:
    """The verdict on the expected cases, and which neighbours newly fail.

    `expected` are case ids; one that the baseline does not know (its file could not be collected) may also stand for
    all cases below it: the parameters of a test, the tests of a class.
    `baseline` is id -> outcome of the user's own code; empty when this is the baseline itself: only then can a failing
    case be the environment's fault.
    `local` are top-level module names of the workspace, so that a missing one is no missing package.
    """
    found = {result.id: result for result in results(execution)}
    ids = _expanded(expected, baseline, found)
    cases = tuple(found.get(case) or CaseResult(id=case, outcome="missing") for case in ids)
    collateral = tuple(_collateral(neighbours, set(ids), baseline, found))

    def verdict(status: Status, reason: str = "") -> Verdict:
        return Verdict(
            status=status,
            cases=cases,
            collateral=collateral,
            reason=reason,
            output=execution.output,
            seconds=execution.seconds,
        )

    if execution.broken:
        return verdict(Status.ENVIRONMENT, execution.broken)
    tampering = _tampering(execution)
    if tampering:
        return verdict(Status.TAMPERED, tampering)
    ended = end_of(execution)
    if ended and (execution.killed or (execution.status or 0) < 0):
        status = Status.TIMEOUT if execution.killed == "timeout" else Status.CRASHED
        return verdict(status, _sentence(f"The run was stopped: {ended}"))
    trouble = _collection(ids, neighbours, execution, local)
    if trouble is not None:
        status, reason = trouble
        return verdict(status if status is not Status.ENVIRONMENT or not baseline else Status.NOT_COLLECTED, reason)
    if ended:
        # The two ways a candidate can cut a run short; only one of them looks like success from outside.
        return verdict(
            Status.TAMPERED if execution.status == 0 else Status.CRASHED, _sentence(f"The run was cut short: {ended}")
        )
    if not baseline:
        reason = next(
            filter(None, (environment_problem(case.failure, local) for case in cases if case.outcome in FAILING)), ""
        )
        if reason:
            return verdict(Status.ENVIRONMENT, reason)
    status, reason = _weigh(cases, collateral, baseline, execution)
    return verdict(status, reason)


def environment_problem(failure: Failure | None, local: Collection[str] = ()) -> str:
    """One sentence when this failure is not the code's fault but the machine's or the sandbox's, else ""."""
    if failure is None:
        return ""
    kind, message = failure.type, failure.message
    if kind == "ModuleNotFoundError":
        name = message.partition("'")[2].partition("'")[0]
        if name and name.partition(".")[0] not in local:
            return f"The package '{name.partition('.')[0]}' is missing in the interpreter that runs the tests."
    if kind == "FixtureLookupError":
        return f"{_first_line(message) or 'A fixture is missing'}: a pytest plugin is not installed in the interpreter."
    if kind == "gaierror" or any(sign in message for sign in _NETWORK):
        return "The test needs the network, which is off in the sandbox (setting 'sandbox.network')."
    if kind == "ConnectionRefusedError":
        return "The test needs a service that does not run in the sandbox (connection refused)."
    if any(sign in message for sign in _READ_ONLY):
        return f"The test writes where the sandbox is read-only: {_first_line(message)}."
    if kind == "PermissionError" and "[Errno 13]" in message:
        return f"The sandbox does not permit what the test does: {_first_line(message)}."
    return ""


def _expanded(expected: Sequence[str], baseline: Mapping[str, str], found: Mapping[str, CaseResult]) -> list[str]:
    ids: list[str] = []
    for case in expected:
        below = [other for other in found if other.startswith((case + "[", case + "::"))]
        ids += below if case not in found and case not in baseline and below else [case]
    return list(dict.fromkeys(ids))


def _tampering(execution: Execution) -> str:
    """What no honest run can produce, in one sentence, or ""."""
    records = execution.records
    if any(record.get("kind") == "forged" for record in records):
        return "The report carries a line that the test runner did not write."
    if [record.get("seq") for record in records] != list(range(len(records))):
        return "The report's sequence is broken: records were left out, repeated or put in."
    count = Counter(str(record.get("kind")) for record in records)
    if count["collected"] > 1 or count["finished"] > 1 or count["start"] > 1:
        return "The tests were started, collected or finished more than once."
    if count["finished"] and records[-1].get("kind") != "finished":
        return "The report went on after the tests were finished."
    finished = next(of_kind(execution, "finished"), None)
    if finished is not None and execution.status is not None and execution.status >= 0 and not execution.killed:
        if finished.get("status") != execution.status:
            return (
                f"pytest reported exit status {finished.get('status')}, but the process ended with {execution.status}."
            )
        if execution.status == 0 and any(phase.get("outcome") == "failed" for phase in of_kind(execution, "phase")):
            reruns = any(record.get("reruns") for record in of_kind(execution, "start"))
            if not reruns:
                return "A test failed, but pytest ended as if all had passed."
    return _phase_tampering(execution)


def _phase_tampering(execution: Execution) -> str:
    reruns = any(record.get("reruns") for record in of_kind(execution, "start"))
    seen: set[tuple[str, str]] = set()
    for phase in of_kind(execution, "phase"):
        case, when = str(phase.get("id")), str(phase.get("when"))
        if phase.get("outcome") == "passed" and phase.get("type") is not None:
            return f"{case} raised {phase['type']}, but was reported as passed."
        if when != "call" and (case, when) in seen and not reruns:
            return f"{case} was run more than once."
        seen.add((case, when))
    return ""


def _collection(
    ids: Sequence[str], neighbours: Sequence[str], execution: Execution, local: Collection[str]
) -> tuple[Status, str] | None:
    """Why not exactly the expected cases were collected, or None."""
    names = [case.id for case in collected(execution)]
    missing = [case for case in ids if case not in set(names)]
    if missing:
        for error in collect_errors(execution):
            if error.failure.type == "ModuleNotFoundError" and not error.local:
                reason = environment_problem(error.failure, local)
                if reason:
                    return Status.ENVIRONMENT, reason
        for error in collect_errors(execution):
            return Status.NOT_COLLECTED, _sentence(f"{error.id} cannot be collected: {_told(error.failure)}")
        if end_of(execution) and execution.status == 0:
            return None  # cut short while collecting: named by the caller
        return Status.NOT_COLLECTED, _sentence(f"{missing[0]} was not collected{_last_error(execution)}")
    if len(set(names)) != len(names):
        return Status.NOT_COLLECTED, "The same test was collected twice."
    extra = [name for name in names if name not in {*ids, *neighbours}]
    if extra and not neighbours:
        return Status.NOT_COLLECTED, f"{len(extra)} tests were collected that nobody expected, among them {extra[0]}."
    return None


def _weigh(
    cases: Sequence[CaseResult], collateral: Sequence[CaseResult], baseline: Mapping[str, str], execution: Execution
) -> tuple[Status, str]:
    bad = [case for case in cases if not _holds(case, baseline)]
    if bad:
        worst = bad[0]
        dodged = worst.outcome in _TOLERATED or worst.outcome == "missing"
        return Status.FAILED, f"{worst.id} was not run to its end: {worst.outcome}." if dodged else ""
    if not cases:
        return Status.NOT_COLLECTED, "There is no test to pass."
    if collateral:
        names = ", ".join(case.id for case in collateral[:3])
        return Status.FAILED, f"Tests that passed before now fail: {names}."
    every = [*cases, *results(execution)]
    if execution.status != 0 and all(case.outcome not in FAILING for case in every):
        return (
            Status.FAILED,
            f"All tests passed, but pytest ended with status {execution.status}{_last_error(execution)}.",
        )
    if execution.status not in (0, 1):
        return Status.CRASHED, f"pytest was interrupted (status {execution.status}){_last_error(execution)}."
    return Status.PASSED, ""


def _holds(case: CaseResult, baseline: Mapping[str, str]) -> bool:
    return case.passed or (case.outcome in _TOLERATED and baseline.get(case.id) == case.outcome)


def _collateral(
    neighbours: Sequence[str], own: Collection[str], baseline: Mapping[str, str], found: Mapping[str, CaseResult]
) -> list[CaseResult]:
    """Neighbours that fail now and did not before; none where there is no "before", or where none was asked for."""
    if not baseline or not any(case in found for case in neighbours if case not in own):
        return []
    newly = []
    for case in dict.fromkeys(neighbours):
        if case in own or baseline.get(case) in FAILING:
            continue
        now = found.get(case) or CaseResult(id=case, outcome="missing")
        if not (now.outcome in ("passed", "xpassed") or now.outcome == baseline.get(case)):
            newly.append(now)
    return newly


def _told(failure: Failure) -> str:
    return (
        f"{failure.type}: {_first_line(failure.message)}"
        if failure.type
        else _first_line(failure.text) or "unknown reason"
    )


def _last_error(execution: Execution) -> str:
    lines = [line for line in execution.output.splitlines() if line.startswith(("ERROR", "E   ", "INTERNALERROR"))]
    return f": {lines[-1].strip()}" if lines else ""


def _first_line(text: str) -> str:
    stripped = text.strip()
    return stripped.splitlines()[0] if stripped else ""


def _sentence(text: str) -> str:
    return text if text.endswith(".") else text + "."
