"""A session that answers the runs of a proof as the test says, and a verifier that uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.run_state import RunState
from greenloop.verdict.verifier import Verifier
from greenloop_sandbox import Execution, Limits, TestRun

TARGET, NEAR, FAR = "test_m.py::test_a", "test_m.py::test_near", "test_far.py::test_far"
TEST = "from m import f\n\n\ndef test_a():\n    assert f(5) == 10\n"
CODE = "def f(x):\n    return 2 * x\n"
OWN = "def f(x):\n    return x\n"
Outcomes = dict[str, tuple[str, str | None]]


def kind_of(run: TestRun) -> str:
    """Which of the accepting runs this is: `plain`, `own`, `apart`, `apart in_place wrong changes`, and so on."""
    if run.apart is None:
        return "own" if run.files.get("m.py") == OWN.encode() else "plain"
    how = [name for name in ("in_place", "outer", "own", "lines", "aware") if getattr(run.apart, name)]
    how += ["without constants"] if run.apart.in_place and not run.apart.constants else []
    how += [f"wrong {run.apart.wrong}"] if run.apart.wrong else []
    return " ".join(["apart", *how, *(["again"] if run.apart.seed else [])])


def execution(cases: Outcomes, *, more: tuple[dict[str, object], ...] = (), **about: object) -> Execution:
    status = 0 if all(outcome == "passed" for outcome, _ in cases.values()) else 1
    records: list[dict[str, object]] = [{"kind": "start"}]
    records.append({"kind": "collected", "cases": [{"id": case, "path": "p", "line": 1} for case in cases]})
    for case, (outcome, error) in cases.items():
        records.append({"kind": "begin", "id": case})
        for when in ("setup", "call", "teardown"):
            mine = (outcome, error) if when == "call" else ("passed", None)
            records.append({"kind": "phase", "id": case, "when": when, "outcome": mine[0], "type": mine[1]})
    records += [*more, {"kind": "finished", "status": status}]
    numbered = tuple({**record, "seq": number} for number, record in enumerate(records))
    return replace(Execution(records=numbered, status=status), **about)  # type: ignore[arg-type]


PASSED, FAILED = ("passed", None), ("failed", "AssertionError")


def apart(case: str = TARGET, **more: object) -> dict[str, object]:
    """The record of a case that ran apart."""
    return {
        "kind": "apart",
        "id": case,
        "calls": 1,
        "rests_on": [],
        "lent": [],
        "ran": [],
        "sides": [],
        "held": [],
        "several": False,
        "fixed": True,
        "false": 0,
        "suspicious": False,
        "unfit": "",
        **more,
    }


def honest(run: TestRun, _ran: list[TestRun]) -> Execution:
    """An honest candidate in a small suite."""
    ids = [case for case in (TARGET, NEAR, FAR) if case in run.selectors]
    outcomes = dict.fromkeys(ids, PASSED)
    if kind_of(run) == "own":
        outcomes[TARGET] = FAILED
    return execution(outcomes, more=(apart(),) if run.apart else ())


class Play:
    """A session, and every run it was asked for."""

    name = "play"

    def __init__(self, answer: Callable[[TestRun, list[TestRun]], Execution]) -> None:
        self.answer, self.ran = answer, []

    async def run(self, run: TestRun) -> Execution:
        self.ran.append(run)
        return self.answer(run, self.ran[:-1])

    async def close(self) -> None:
        self.ran.append(TestRun(selectors=("closed",)))

    @property
    def kinds(self) -> list[str]:
        return [kind_of(run) for run in self.ran if run.selectors != ("closed",)]


def run_state(*neighbours: str, qualname: str = "f", root: Path = Path("/nowhere")) -> RunState:
    problem = Problem(
        root=root,
        spec=Spec(cases=(Case(id=TARGET, path="test_m.py", line=4),), selectors=(TARGET,)),
        regions=(Region(path="m.py", qualname=qualname, start=1, end=2),),
        originals={"m.py": OWN},
        files={"m.py": CODE, "test_m.py": TEST},
        neighbours=neighbours,
    )
    outcomes = {TARGET: "failed", **dict.fromkeys(neighbours, "passed")}
    return RunState(problem=problem, outcomes=outcomes, limits=Limits())


def verifier(play: Play, state: RunState) -> Verifier:
    async def open_session() -> Play:
        return play

    return Verifier(
        state=state,
        session=play,
        open_session=open_session,
        encode=lambda files: {path: text.encode() for path, text in files.items()},
        suite_seconds=60,
    )


async def accepted(play: Play, state: RunState, code: str = CODE, path: str = "m.py"):
    verdict = await verifier(play, state).accept({path: code})
    return verdict, state.evidence
