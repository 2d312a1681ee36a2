"""Runs of related tests that end as a test says, without a sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.verification_inputs import VerificationInputs
from greenloop_sandbox import Execution, Limits, TestRun

PHASES = ("setup", "call", "teardown")
CASES = ("t.py::a", "t.py::b", "t.py::c", "t.py::old")


def inputs(cases: tuple[str, ...] = CASES) -> VerificationInputs:
    problem = Problem(
        root=Path("/nowhere"), spec=Spec(cases=(), selectors=()), regions=(), originals={}, files={}, neighbours=cases
    )
    outcomes = {**dict.fromkeys(cases, "passed"), "t.py::old": "failed"}
    return VerificationInputs(
        problem=problem, outcomes=outcomes, limits=Limits(), suite_seconds=60, encode=lambda _files: {}
    )


def ended(*cases: tuple[str, str], cut: str = "", known: tuple[str, ...] = CASES, **about: object) -> Execution:
    """These cases ended so, and one was cut."""
    records: list[dict[str, object]] = [
        {"kind": "collected", "cases": [{"id": case, "path": "t.py", "line": 1} for case in (*known, *dict(cases))]}
    ]
    for case, outcome in cases:
        records.append({"kind": "begin", "id": case})
        for when in PHASES:
            is_failed = when == "call" and outcome == "failed"
            type_ = "AssertionError" if is_failed else None
            phase = {"kind": "phase", "id": case, "when": when, "type": type_}
            records.append({**phase, "outcome": "failed" if is_failed else "passed"})
    records += [{"kind": "begin", "id": cut}] if cut else [{"kind": "finished", "status": 0}]
    records = [{**record, "seq": number} for number, record in enumerate(records)]
    return Execution(records=tuple(records), **about)  # type: ignore[arg-type]


class TwoCodes:
    """Runs files and cases that nothing was known of; `mine` and `theirs` fail with the user's and the new code.

    A name in them that is a file cannot be collected. A report holds `most` cases.
    """

    name = "here"
    closed = 0

    def __init__(self, files: dict[str, tuple[str, ...]], mine: set[str], theirs: set[str], most: int = 10**6) -> None:
        self.files, self.mine, self.theirs, self.most = files, mine, theirs, most

    async def run(self, run: TestRun) -> Execution:
        failing = self.mine if "own.py" in run.files else self.theirs
        selected = dict.fromkeys(run.only or run.selectors)
        cases = [case for file, inside in self.files.items() for case in inside if {file, case} & selected.keys()]
        outcomes = [
            (case, "failed" if case in failing else "passed")
            for case in cases
            if case.partition("::")[0] not in failing
        ]
        killed = "report" if len(outcomes) > self.most else ""
        execution = ended(*outcomes[: self.most], known=tuple(dict(outcomes)), killed=killed, seconds=1.0)
        broken = [{"kind": "collect_error", "id": file} for file in self.files if file in failing and file in selected]
        records = [*execution.records[:1], *broken, *execution.records[1:]]
        numbered = tuple({**record, "seq": number} for number, record in enumerate(records))
        return replace(execution, records=numbered)

    async def close(self) -> None:
        self.closed += 1
