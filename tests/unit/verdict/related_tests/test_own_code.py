"""What a verdict asks of the user's own code, and which related tests it runs, with a session that answers as told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status
from greenloop.core.run_state import RunState
from greenloop.verdict.related_tests.own_code import own_run
from greenloop.verdict.verifier import Verifier
from greenloop_sandbox import Execution, Limits, TestRun

ONE, TWO = "test_m.py::test_a[1]", "test_m.py::test_a[2]"
NEAR, FAR, NEW = "test_m.py::test_near", "test_far.py::test_far", "test_far.py::test_new"
OWN, CODE = "def f(x):\n    return x\n", "def f(x):\n    return 2 * x\n"

Answer = Callable[[TestRun, bool], dict[str, str]]


def execution(run: TestRun, outcomes: dict[str, str]) -> Execution:
    chosen = [case for case in (ONE, TWO, NEAR, FAR, NEW) if case in (run.only or run.selectors)]
    records: list[dict[str, object]] = [{"kind": "start"}]
    records.append({"kind": "collected", "cases": [{"id": case, "path": "p", "line": 1} for case in chosen]})
    ended = True
    for case in chosen:
        outcome = outcomes.get(case, "passed")
        records.append({"kind": "begin", "id": case})
        if outcome == "cut":
            ended = False
            break
        for when in ("setup", "call", "teardown"):
            mine = outcome if when == "call" else "passed"
            kind = {"failed": "AssertionError", "skipped": "Skipped"}.get(mine)
            records.append({"kind": "phase", "id": case, "when": when, "outcome": mine, "type": kind})
    status = int(any(outcome == "failed" for case, outcome in outcomes.items() if case in chosen))
    records += [{"kind": "finished", "status": status}] * ended
    numbered = tuple({**record, "seq": number} for number, record in enumerate(records))
    killed = "" if ended else "timeout"
    return Execution(records=numbered, status=status if ended else -9, killed=killed)


class Play:
    name = "play"

    def __init__(self, answer: Answer) -> None:
        self.answer, self.ran = answer, []

    async def run(self, run: TestRun) -> Execution:
        is_own = run.files.get("m.py", b"") != CODE.encode()
        self.ran.append((run.only or run.selectors, is_own))
        return execution(run, self.answer(run, is_own))

    async def close(self) -> None:
        pass


def verifier(play: Play, *, outcomes: dict[str, str], **more: object) -> Verifier:
    neighbours = tuple(case for case in outcomes if case not in (ONE, TWO))
    problem = Problem(
        root=Path("/nowhere"),
        spec=Spec(cases=tuple(Case(id=case, path="test_m.py", line=4) for case in (ONE, TWO)), selectors=(ONE, TWO)),
        regions=(Region(path="m.py", qualname="f", start=1, end=2),),
        originals={"m.py": OWN},
        files={"m.py": OWN},
        neighbours=neighbours,
    )
    state = RunState(problem=problem, outcomes=outcomes, limits=Limits())
    for name, value in more.items():
        if name == "unaffected":
            state.problem = replace(problem, unaffected=value)
        else:
            setattr(state, name, value)

    async def open_session() -> Play:
        return play

    return Verifier(
        state=state,
        session=play,
        open_session=open_session,
        encode=lambda files: {path: text.encode() for path, text in files.items()},
        suite_seconds=60,
        own_code=dict,
    )


@pytest.mark.parametrize(
    ("before", "alone", "status"),
    [
        ("missing", "skipped", Status.PASSED),
        ("failed", "skipped", Status.PASSED),
        ("missing", "passed", Status.TAMPERED),
        ("failed", "failed", Status.TAMPERED),
        ("missing", "cut", Status.FAILED),
    ],
)
async def test_a_skip_is_tampering_only_where_the_users_own_code_is_not_skipped_alone(before, alone, status):
    play = Play(lambda _run, is_own: {TWO: alone if is_own else "skipped"})
    verdict = await verifier(play, outcomes={ONE: "failed", TWO: before}).verify({"m.py": CODE})
    assert verdict.status is status, verdict.reason
    assert play.ran.count(((TWO,), True)) == 1


async def test_a_known_skip_asks_nobody():
    play = Play(lambda _run, _is_own: {TWO: "skipped"})
    verdict = await verifier(play, outcomes={ONE: "failed", TWO: "skipped"}).verify({"m.py": CODE})
    assert (verdict.status, len(play.ran)) == (Status.PASSED, 1)


OUTCOMES = {ONE: "failed", TWO: "failed", NEAR: "passed", FAR: "passed"}


async def test_what_the_change_cannot_affect_is_not_run_and_counted():
    play = Play(lambda _run, _is_own: {})
    judge = verifier(play, outcomes=OUTCOMES, unaffected=(FAR,))
    assert (await judge.accept({"m.py": CODE})).status is Status.PASSED
    assert not any(FAR in selectors for selectors, _is_own in play.ran)
    evidence = judge.state.evidence
    assert (evidence.neighbours_unchanged, evidence.neighbours_not_affected, evidence.neighbours_left_out) == (1, 1, 0)


async def test_what_changes_more_than_a_body_runs_with_all_of_them():
    play = Play(lambda run, _is_own: {FAR: "failed"} if b"import" in run.files.get("m.py", b"") else {})
    judge = verifier(play, outcomes=OUTCOMES, unaffected=(FAR,))
    verdict = await judge.verify({"m.py": "import math\n" + CODE})
    assert [case.id for case in verdict.collateral] == [FAR]


@pytest.mark.parametrize(
    ("outcomes", "status", "counts"),
    [
        ({}, Status.PASSED, (3, 0, 0)),
        ({NEW: "failed"}, Status.PASSED, (2, 1, 0)),
        ({NEW: "cut"}, Status.PASSED, (2, 0, 1)),
        ({(NEW, False): "failed"}, Status.FAILED, (0, 0, 0)),
    ],
    ids=["passes", "failed before", "no time", "newly fails"],
)
async def test_what_the_baseline_did_not_get_to_runs_with_the_candidate(outcomes, status, counts):
    def answer(_run, is_own):
        return {NEW: outcomes.get(NEW) or outcomes.get((NEW, is_own), "passed")}

    judge = verifier(Play(answer), outcomes=OUTCOMES, unmeasured=(NEW,))
    verdict = await judge.accept({"m.py": CODE})
    assert verdict.status is status, verdict.reason
    evidence = judge.state.evidence
    found = (evidence.neighbours_unchanged, evidence.neighbours_already_failing, evidence.neighbours_left_out)
    assert found == counts


def test_the_users_own_code_is_what_it_was_also_where_the_result_is_in_their_files():
    originals = {"m.py": OWN, "new.py": None, "stubbed.py": None}
    known = replace(verifier(Play(lambda _run, _is_own: {}), outcomes={}).inputs, own={"stubbed.py": b"..."})
    known = replace(known, problem=replace(known.problem, originals=originals))
    run = own_run(known, TestRun(selectors=(), files=dict.fromkeys([*originals, "other.py"], b"changed")))
    assert run.files == {"m.py": OWN.encode(), "stubbed.py": b"..."}
    assert run.without == ("new.py",)
