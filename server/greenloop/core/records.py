"""Reads what a worker reported (sandbox/protocol.py describes each record); judges nothing.

Everything here comes from a process that ran a candidate, so every field is looked at before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.core.nouns import CaseResult, Execution, Failure, Frame

PHASES = ("setup", "call", "teardown")


@dataclass(frozen=True, kw_only=True)
class Collected:
    """A case that pytest collected: node id and where it stands."""

    id: str
    path: str
    line: int


@dataclass(frozen=True, kw_only=True)
class CollectError:
    """A file or class that could not be collected. `name` is what could not be imported, where that was it."""

    id: str
    failure: Failure
    name: str | None


@dataclass(frozen=True, kw_only=True)
class Reach:
    """A function of the workspace that a case called: least call depth, and who called it there."""

    path: str
    firstlineno: int
    name: str
    depth: int
    caller: Frame | None


def of_kind(execution: Execution, kind: str) -> Iterator[Mapping[str, Any]]:
    return (record for record in execution.records if record.get("kind") == kind)


def collected(execution: Execution) -> tuple[Collected, ...]:
    """The collected cases in running order."""
    return tuple(
        Collected(id=str(case["id"]), path=str(case["path"]), line=int(case["line"] or 1))
        for record in of_kind(execution, "collected")
        for case in record.get("cases", ())
    )


def collect_errors(execution: Execution) -> tuple[CollectError, ...]:
    return tuple(
        CollectError(id=str(record.get("id")), failure=failure_of(record), name=record.get("name"))
        for record in of_kind(execution, "collect_error")
    )


def reached(execution: Execution) -> dict[str, tuple[Reach, ...]]:
    """Which functions each case reached; empty unless the run was traced."""
    return {
        str(record["id"]): tuple(_reach(item) for item in record.get("functions", ()))
        for record in of_kind(execution, "trace")
    }


def results(execution: Execution) -> tuple[CaseResult, ...]:
    """One result for each case that at least began, in the order of the run.

    A case that began and has no teardown phase is `missing`: the process ended, or was killed, in its middle.
    """
    phases: dict[str, dict[str, Mapping[str, Any]]] = {}
    for record in of_kind(execution, "begin"):
        phases.setdefault(str(record["id"]), {})
    for record in of_kind(execution, "phase"):
        phases.setdefault(str(record["id"]), {})[str(record.get("when"))] = record
    return tuple(_result(case, found, execution) for case, found in phases.items())


def _result(case: str, found: Mapping[str, Mapping[str, Any]], execution: Execution) -> CaseResult:
    seconds = sum(float(record.get("seconds") or 0) for record in found.values())
    for when in PHASES:
        record = found.get(when)
        if record is None:
            return CaseResult(id=case, outcome="missing", failure=_cut_short(when, execution), seconds=seconds)
        outcome = _outcome(when, record)
        if outcome != "passed":
            return CaseResult(id=case, outcome=outcome, failure=failure_of(record), seconds=seconds)
    return CaseResult(id=case, outcome="passed", seconds=seconds)


def _outcome(when: str, record: Mapping[str, Any]) -> str:
    outcome = record.get("outcome")
    if record.get("wasxfail") is not None:
        return "xpassed" if outcome == "passed" else "xfailed"
    if outcome == "failed":
        return "failed" if when == "call" else "error"
    return outcome if outcome in {"passed", "skipped"} else "failed"


def _cut_short(when: str, execution: Execution) -> Failure:
    if execution.killed == "timeout":
        return Failure(type="Timeout", message=f"the time limit was over in its {when}")
    if execution.killed:
        return Failure(type="Killed", message=f"stopped in its {when}: the limit of {execution.killed} was reached")
    return Failure(type="Crashed", message=f"the process ended in its {when} (exit status {execution.status})")


def failure_of(record: Mapping[str, Any]) -> Failure:
    return Failure(
        type=str(record.get("type") or ("Skipped" if record.get("outcome") == "skipped" else "Error")),
        message=str(record.get("message") or record.get("wasxfail") or ""),
        frames=tuple(_frames(record.get("frames") or ())),
        text=str(record.get("text") or ""),
        expected=_text(record.get("expected")),
        observed=_text(record.get("observed")),
    )


def _frames(frames: Sequence[Any]) -> Iterator[Frame]:
    for path, line, function in frames:
        yield Frame(path=str(path), line=int(line), function=str(function))


def _reach(item: Mapping[str, Any]) -> Reach:
    return Reach(
        path=str(item["path"]),
        firstlineno=int(item["line"]),
        name=str(item["name"]),
        depth=int(item["depth"]),
        caller=next(_frames([item["caller"]]), None) if item.get("caller") else None,
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
