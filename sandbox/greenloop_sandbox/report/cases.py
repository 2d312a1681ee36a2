"""Reads the records of an execution about its cases: which were collected, how each ended, and how the worker ended."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop_sandbox.records import Execution
from greenloop_sandbox.results import CaseResult, Failure, Frame

Record = Mapping[str, Any]
_STACK_LINE = re.compile(r'^ {2}File "(?P<path>.+)", line (?P<line>\d+) in (?P<function>.+)$')
# What faulthandler writes for a character outside ASCII, as it may not allocate memory.
_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_KILLED = {
    "timeout": "it did not finish in time",
    "memory": "it exceeded the memory limit",
    "processes": "it exceeded the limit of processes and threads",
    "disk": "it exceeded the disk limit",
    "output": "it produced too much output",
    "report": "its test report grew too large",
}


@dataclass(frozen=True, kw_only=True)
class CollectedCase:
    """A case as pytest collected it; `line` is 1-based."""

    id: str
    path: str
    line: int


@dataclass(frozen=True, kw_only=True)
class CollectError:
    """A file, class or docstring that could not be collected. `name`: the module or name that an import did not find.

    `is_local`: the missing module would belong to a package of the workspace.
    """

    id: str
    failure: Failure
    missing_name: str | None = None
    is_local: bool = False


def collected_cases(execution: Execution) -> tuple[CollectedCase, ...]:
    """The cases in running order; empty where collection did not finish."""
    for record in records_of_kind(execution, "collected"):
        return tuple(
            CollectedCase(id=str(case["id"]), path=str(case["path"]), line=int(case["line"]))
            for case in record.get("cases", ())
        )
    return ()


def collect_errors(execution: Execution) -> tuple[CollectError, ...]:
    """The collection failures, in the order of the report."""
    return tuple(
        CollectError(
            id=str(record.get("id", "")),
            failure=failure(record),
            missing_name=record.get("name"),
            is_local=bool(record.get("local")),
        )
        for record in records_of_kind(execution, "collect_error")
    )


def case_results(execution: Execution) -> tuple[CaseResult, ...]:
    """One result for each case that was collected or begun, in order. A case that never ran is `missing`."""
    phases = _phases(execution)
    began = [str(record["id"]) for record in records_of_kind(execution, "begin")]
    ids = list(dict.fromkeys([case.id for case in collected_cases(execution)] + began))
    ended = began and any(phase.get("when") == "teardown" for phase in phases.get(began[-1], ()))
    unfinished = began[-1] if began and describe_end(execution) and not ended else None
    return tuple(
        _interrupted_result(case, execution) if case == unfinished else case_result(case, phases.get(case, ()))
        for case in ids
    )


def case_result(case: str, phases: Sequence[Record]) -> CaseResult:
    """The result of one case from all its phases; several `call` phases are subtests, and each of them counts."""
    seconds = sum(float(phase.get("seconds") or 0.0) for phase in phases)
    for when in ("setup", "call", "teardown"):
        same_phase = [phase for phase in phases if phase.get("when") == when]
        for phase in same_phase:
            outcome = _outcome(phase)
            if outcome == "failed":
                kind = "failed" if when == "call" else "error"
                return CaseResult(id=case, outcome=kind, failure=failure(phase), seconds=seconds)
            if outcome != "passed":
                return CaseResult(id=case, outcome=outcome, failure=failure(phase), seconds=seconds)
        if not same_phase:
            return CaseResult(id=case, outcome="missing", seconds=seconds)
    return CaseResult(id=case, outcome="passed", seconds=seconds)


def all_passed(execution: Execution) -> bool:
    """True if cases were run to the end, and all of them passed."""
    results = case_results(execution)
    has_ended = any(records_of_kind(execution, "finished"))
    return bool(results) and all(result.passed for result in results) and has_ended


def failure(record: Record) -> Failure:
    """The failure in a phase or collect_error record."""
    return Failure(
        type=str(record.get("type") or ""),
        message=str(record.get("message") or ""),
        frames=tuple(read_frame(frame) for frame in record.get("frames") or ()),
        text=str(record.get("text") or ""),
        expected=record.get("expected"),
        observed=record.get("observed"),
    )


def records_of_kind(execution: Execution, kind: str) -> Iterator[Record]:
    return (record for record in execution.records if record.get("kind") == kind)


def describe_end(execution: Execution) -> str:
    """Returns how the worker ended where pytest did not end it: one clause, or ""."""
    if execution.killed:
        return _KILLED.get(execution.killed, f"it was killed ({execution.killed})")
    status = execution.status
    if status is not None and status < 0:
        try:
            return f"it was killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"it was killed by signal {-status}"
    if not any(records_of_kind(execution, "finished")):
        return f"the process exited with status {status} before pytest finished"
    return ""


def _phases(execution: Execution) -> dict[str, list[Record]]:
    """The phases of each case; where a plugin repeats failing cases, those of the last repetition only."""
    reruns = any(record.get("reruns") for record in records_of_kind(execution, "start"))
    phases_by_case: dict[str, list[Record]] = {}
    for record in records_of_kind(execution, "phase"):
        case_phases = phases_by_case.setdefault(str(record.get("id")), [])
        if reruns and record.get("when") == "setup":
            case_phases.clear()
        case_phases.append(record)
    return phases_by_case


def _outcome(phase: Record) -> str:
    outcome, wasxfail = phase.get("outcome"), phase.get("wasxfail")
    if outcome == "skipped":
        return "xfailed" if wasxfail is not None else "skipped"
    if outcome == "passed":
        # A phase with an exception that a report calls passed has failed, whoever wrote the report.
        if phase.get("type") is not None:
            return "failed"
        return "xpassed" if wasxfail is not None else "passed"
    return "failed"


def _interrupted_result(case: str, execution: Execution) -> CaseResult:
    kind = {"timeout": "Timeout", "memory": "MemoryLimit", "processes": "ProcessLimit"}.get(execution.killed, "Crash")
    why = Failure(
        type=kind,
        message=f"{describe_end(execution)} (after {execution.seconds:.1f} s)",
        frames=last_stack(execution),
        text=execution.output[-2000:],
    )
    return CaseResult(id=case, outcome="failed", failure=why, seconds=execution.seconds)


def last_stack(execution: Execution) -> tuple[Frame, ...]:
    """The workspace frames of the last stack that faulthandler printed, outermost first."""
    return tuple(frame for frame in whole_stack(execution) if not frame.path.startswith(("/", "<")))


def whole_stack(execution: Execution) -> tuple[Frame, ...]:
    """All frames of this stack, outermost first; those outside the workspace have absolute paths."""
    roots = [str(record.get("root", "")) for record in records_of_kind(execution, "start")]
    _, marker, text = execution.output.rpartition("(most recent call first):\n")
    if not marker or not roots or not roots[0]:
        return ()
    prefix = roots[0].rstrip("/") + "/"
    frames = []
    for line in text.splitlines():
        match = _STACK_LINE.match(line)
        if match is None:
            break
        path = _unescape(match["path"]).removeprefix(prefix)
        frames.append(Frame(path=path, line=int(match["line"]), function=_unescape(match["function"])))
    return tuple(reversed(frames))


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(next(filter(None, match.groups())), 16)), text)


def read_frame(value: Sequence[Any]) -> Frame:
    """The frame in a record: path, line and function."""
    return Frame(path=str(value[0]), line=int(value[1]), function=str(value[2]))
