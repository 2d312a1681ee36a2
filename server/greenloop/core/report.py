"""Reads the records of an execution about its cases; pure functions that judge nothing.

sandbox/protocol.py describes the kinds of records. A record of an unknown form counts as absent.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from greenloop.core.records.sandbox import Execution
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import CaseResult, Failure, Frame, SourceRead

Record = Mapping[str, Any]
_STACK_LINE = re.compile(r'^ {2}File "(?P<path>.+)", line (?P<line>\d+) in (?P<function>.+)$')
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


@dataclass(frozen=True, kw_only=True)
class ReachedFunction:
    """A workspace function that a case called, directly (smallest `depth`) or through others.

    `firstlineno` is its first line (decorators included), `caller` the workspace frame that called it.
    """

    path: str
    firstlineno: int
    name: str
    depth: int
    caller: Frame | None = None

    def is_in(self, region: Region) -> bool:
        return self.path == region.path and region.start <= self.firstlineno <= region.end


@dataclass(frozen=True, kw_only=True)
class Step:
    """A line that is about to run, or the end of a call, with the variables that changed since the last step.

    `call` counts the calls of a case from 1. `values` are texts of at most 100 characters; a name `return`, `yield` or
    `raise` among them marks the end of the call (a pause, for `yield`) and has its value.
    """

    path: str
    line: int
    call: int
    values: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class LineTrace:
    """The watched lines that a case ran: how often each, and the first and last steps in order.

    Where there were too many, `left_out` steps are missing before step number `gap`.
    """

    lines: Mapping[str, Mapping[int, int]]
    steps: tuple[Step, ...]
    gap: int = 0
    left_out: int = 0


@dataclass(frozen=True, kw_only=True)
class StatementTrace:
    """The lines that a case ran of the suspected functions, by path.

    `produced`: for a failing case, the functions (path and first line) that produced a value which the failing
    statement compared, 0..1: how directly.
    """

    lines: Mapping[str, frozenset[int]]
    produced: Mapping[tuple[str, int], float] = field(default_factory=dict)


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


def reached_functions(execution: Execution) -> dict[str, tuple[ReachedFunction, ...]]:
    """The workspace functions that each case reached, by case id, nearest first; for traced executions only."""
    return {
        str(record["id"]): tuple(
            sorted((_reach(item) for item in record.get("functions", ())), key=lambda reach: reach.depth)
        )
        for record in records_of_kind(execution, "trace")
    }


def line_traces(execution: Execution) -> dict[str, LineTrace]:
    """The watched lines that each case ran, by case id; for executions with `TestRun.watch`, also killed ones."""
    return {str(record["id"]): _watched(record) for record in records_of_kind(execution, "watch")}


def statement_traces(execution: Execution) -> dict[str, StatementTrace]:
    """What each case ran of the suspected functions, by case id; for executions with `TestRun.statements`."""
    return {str(record["id"]): _statements(record) for record in records_of_kind(execution, "statements")}


def source_reads(execution: Execution) -> tuple[SourceRead, ...]:
    """What code of the workspace read of the tests, or of its callers' frames."""
    return tuple(
        SourceRead(
            how=str(record["how"]), path=str(record["path"]), frames=tuple(_frame(each) for each in record["frames"])
        )
        for record in records_of_kind(execution, "source_read")
    )


def opened_sources(execution: Execution) -> frozenset[str] | None:
    """The Python files of the workspace that the run opened; None where they are not all known."""
    record = next(records_of_kind(execution, "sources"), None)
    return None if record is None or record.get("programs") else frozenset(map(str, record["files"]))


def case_results(execution: Execution) -> tuple[CaseResult, ...]:
    """One result for each case that was collected or begun, in order. A case that never ran is `missing`."""
    phases = _phases(execution)
    began = [str(record["id"]) for record in records_of_kind(execution, "begin")]
    ids = list(dict.fromkeys([case.id for case in collected_cases(execution)] + began))
    unfinished = _unfinished(execution, phases, began)
    return tuple(
        _interrupted(case, execution) if case == unfinished else case_result(case, phases.get(case, ())) for case in ids
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


def passed_seconds(execution: Execution) -> float | None:
    """The seconds of all cases without their fixtures; None where a case did not pass or was not run."""
    results = case_results(execution)
    if not results or not all(result.passed for result in results) or not any(records_of_kind(execution, "finished")):
        return None
    calls = (record for record in records_of_kind(execution, "phase") if record.get("when") == "call")
    return sum(float(record.get("seconds") or 0.0) for record in calls)


@dataclass(frozen=True, kw_only=True)
class LineCost:
    """What a line cost in all cases: how often it ran, its seconds with what it calls, the most bytes beyond before."""

    times: int
    seconds: float
    bytes: int


def line_costs(execution: Execution, path: str) -> dict[int, LineCost]:
    """The costs of a file's lines; for executions with `TestRun.profile`."""
    costs: dict[int, LineCost] = {}
    for record in records_of_kind(execution, "profile"):
        for file, line, times, seconds, size in record["lines"]:
            if 0 <= file < len(record["files"]) and record["files"][file] == path:
                old = costs.get(line, LineCost(times=0, seconds=0.0, bytes=0))
                costs[line] = LineCost(
                    times=old.times + times, seconds=old.seconds + seconds, bytes=max(old.bytes, size)
                )
    return costs


def peak_bytes(execution: Execution) -> int | None:
    """The most bytes that any case allocated; None where a case did not pass or was not run."""
    peaks = [int(record["peak"]) for record in records_of_kind(execution, "profile")]
    return None if passed_seconds(execution) is None or not peaks else max(peaks)


def failure(record: Record) -> Failure:
    """The failure in a phase or collect_error record."""
    return Failure(
        type=str(record.get("type") or ""),
        message=str(record.get("message") or ""),
        frames=tuple(_frame(frame) for frame in record.get("frames") or ()),
        text=str(record.get("text") or ""),
        expected=record.get("expected"),
        observed=record.get("observed"),
    )


def records_of_kind(execution: Execution, kind: str) -> Iterator[Record]:
    return (record for record in execution.records if record.get("kind") == kind)


def describe_end(execution: Execution) -> str:
    """How the worker ended where pytest did not end it: one clause, or ""."""
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


def _unfinished(execution: Execution, phases: Mapping[str, Sequence[Record]], began: Sequence[str]) -> str | None:
    """The case that was running when the worker ended abnormally."""
    if (
        began
        and describe_end(execution)
        and not any(phase.get("when") == "teardown" for phase in phases.get(began[-1], ()))
    ):
        return began[-1]
    return None


def _interrupted(case: str, execution: Execution) -> CaseResult:
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
        frames.append(
            Frame(path=match["path"].removeprefix(prefix), line=int(match["line"]), function=match["function"])
        )
    return tuple(reversed(frames))


def _frame(value: Sequence[Any]) -> Frame:
    return Frame(path=str(value[0]), line=int(value[1]), function=str(value[2]))


def _reach(item: Record) -> ReachedFunction:
    caller = item.get("caller")
    return ReachedFunction(
        path=str(item["path"]),
        firstlineno=int(item["line"]),
        name=str(item["name"]),
        depth=int(item["depth"]),
        caller=None if caller is None else _frame(caller),
    )


def _watched(record: Record) -> LineTrace:
    files = record["files"]
    lines: dict[str, dict[int, int]] = {}
    for file, line, times in record["hits"]:
        if 0 <= file < len(files):
            lines.setdefault(files[file], {})[line] = times
    steps = tuple(
        Step(path=files[file], line=line, call=call, values=dict(values))
        for file, line, call, values in record["steps"]
        if 0 <= file < len(files)
    )
    return LineTrace(lines=lines, steps=steps, gap=int(record.get("gap", 0)), left_out=int(record.get("left_out", 0)))


def _statements(record: Record) -> StatementTrace:
    files = record["files"]
    lines: dict[str, set[int]] = {}
    for file, line in record["statements"]:
        if 0 <= file < len(files):
            lines.setdefault(files[file], set()).add(line)
    return StatementTrace(
        lines={path: frozenset(ran) for path, ran in lines.items()},
        produced={
            (files[file], line): weight / 100 for file, line, weight in record["produced"] if 0 <= file < len(files)
        },
    )
