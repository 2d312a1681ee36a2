"""Reads the records of an execution about code: what each case reached and ran, what that cost, what was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from greenloop_sandbox.records import Execution
from greenloop_sandbox.report.cases import Record, read_frame, records_of_kind
from greenloop_sandbox.results import Frame


class Lines(Protocol):
    """Lines of a file, from `start` to `end`."""

    @property
    def path(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


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

    def is_in(self, lines: Lines) -> bool:
        return self.path == lines.path and lines.start <= self.firstlineno <= lines.end


@dataclass(frozen=True, kw_only=True)
class TracedStep:
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
    steps: tuple[TracedStep, ...]
    gap: int = 0
    left_out: int = 0


@dataclass(frozen=True, kw_only=True)
class StatementTrace:
    """The lines that a case ran of the suspected functions, by path."""

    lines: Mapping[str, frozenset[int]]


@dataclass(frozen=True, kw_only=True)
class LineCost:
    """Cost of a line in all cases: number of runs, seconds with its calls, and the most bytes above those before."""

    times: int
    seconds: float
    bytes: int


def reached_functions(execution: Execution) -> dict[str, tuple[ReachedFunction, ...]]:
    """The workspace functions that each case reached, by case id, nearest first; for traced executions only."""
    return {
        str(record["id"]): tuple(
            sorted((_reach(item) for item in record.get("functions", ())), key=lambda reach: reach.depth)
        )
        for record in records_of_kind(execution, "trace")
    }


def opened_files(execution: Execution) -> dict[str, set[tuple[str, str]]]:
    """The files that each case read, with the modules that asked for them, by case id; "" for what all cases share."""
    found: dict[str, set[tuple[str, str]]] = {}
    for record in records_of_kind(execution, "opened"):
        found.setdefault(str(record["id"]), set()).update((str(path), str(module)) for path, module in record["opened"])
    return found


def line_traces(execution: Execution) -> dict[str, LineTrace]:
    """The watched lines that each case ran, by case id; for executions with `TestRun.watch`, also killed ones."""
    return {str(record["id"]): _watched(record) for record in records_of_kind(execution, "watch")}


def statement_traces(execution: Execution) -> dict[str, StatementTrace]:
    """Returns each case's trace of the suspected functions, by case id; for executions with `TestRun.statements`."""
    return {str(record["id"]): _statements(record) for record in records_of_kind(execution, "statements")}


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
    """The most bytes that any case allocated, by Python's allocator in its process; None where it was not asked."""
    return max((int(record["peak"]) for record in records_of_kind(execution, "profile")), default=None)


def _reach(item: Record) -> ReachedFunction:
    caller = item.get("caller")
    return ReachedFunction(
        path=str(item["path"]),
        firstlineno=int(item["line"]),
        name=str(item["name"]),
        depth=int(item["depth"]),
        caller=None if caller is None else read_frame(caller),
    )


def _watched(record: Record) -> LineTrace:
    files = record["files"]
    lines: dict[str, dict[int, int]] = {}
    for file, line, times in record["hits"]:
        if 0 <= file < len(files):
            lines.setdefault(files[file], {})[line] = times
    steps = tuple(
        TracedStep(path=files[file], line=line, call=call, values=dict(values))
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
    return StatementTrace(lines={path: frozenset(ran) for path, ran in lines.items()})
