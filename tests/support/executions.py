"""Executions as an honest sandbox reports them."""

from __future__ import annotations

from greenloop_sandbox import Execution


def execute(outcomes, *, deselected=(), extra=(), killed="", status=None, finished=True):
    """An honest execution of these cases, outcome by id."""
    records = [{"kind": "start", "pytest": "9.2.0", "python": [3, 11, 7], "root": "/p", "reruns": False}]
    cases = [{"id": case, "path": case.partition("::")[0], "line": 1} for case in outcomes]
    records.append({"kind": "collected", "cases": cases, "deselected": list(deselected)})
    for case, outcome in outcomes.items():
        records.append({"kind": "begin", "id": case})
        for when in ("setup", "call", "teardown"):
            failed = when == "call" and outcome == "failed"
            records.append(
                {
                    "kind": "phase",
                    "id": case,
                    "when": when,
                    "outcome": outcome if when == "call" else "passed",
                    "type": "AssertionError" if failed else None,
                }
            )
    records += extra
    if status is None:
        status = 1 if "failed" in outcomes.values() else 0
    if finished and not killed:
        records.append({"kind": "finished", "status": status})
    return Execution(
        records=tuple({**record, "seq": number} for number, record in enumerate(records)),
        status=-9 if killed else status,
        killed=killed,
        seconds=float(len(outcomes)),
    )
