"""What speaks for a candidate and what against it, with a session that answers as the test says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.sandbox import Execution, TestRun
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.core.summary import summarize_solved, verification_level
from greenloop.verdict.inputs import ACCEPTING
from scripted_proof import (
    CODE,
    CROSSED,
    FAILED,
    FAR,
    NEAR,
    PASSED,
    TARGET,
    Play,
    accepted,
    execution,
    honest,
    kind_of,
    run_state,
    verifier,
)


async def test_an_honest_candidate_is_proved_in_six_runs_of_one_seed():
    play = Play(honest)
    verdict, evidence = await accepted(play, run_state(NEAR, FAR))
    assert verdict.status is Status.PASSED
    assert play.kinds == ["plain", "equal", "negated", "literal", "reversal", "oracle"]
    assert {run.hash_seed for run in play.ran[:-1]} == {ACCEPTING}
    assert (evidence.canaried, evidence.canary_total, evidence.out_of_process) == (1, 1, 1)
    assert (evidence.neighbours_unchanged, evidence.neighbours_flaky) == (2, 0)
    assert evidence.proofs == {TARGET: ("reversal", "tamper check", "isolated re-run")}
    assert summarize_solved(evidence, verification_level(evidence)).endswith(
        "tamper check 1/1, isolated re-run 1/1, reversal check 1/1."
    )


@pytest.mark.parametrize("passes", [(0, 1), (1,)], ids=["both times", "once"])
async def test_what_was_red_before_counts_as_fixed_where_it_passes_both_times(passes):
    """The second run of the two is the proof's: a test that passes by chance is not fixed."""
    plain: list[TestRun] = []

    def answer(run, ran):
        if kind_of(run) != "plain" or NEAR not in (*run.selectors, *run.only):
            return honest(run, ran)
        plain.append(run)
        return execution({TARGET: PASSED, NEAR: PASSED if len(plain) - 1 in passes else FAILED, FAR: FAILED})

    state = run_state(NEAR, FAR)
    state.outcomes = {**state.outcomes, NEAR: "failed", FAR: "failed"}
    state.problem = replace(state.problem, siblings=(NEAR,))
    made = verifier(Play(answer), state)
    assert (await made.verify({"m.py": CODE})).status is Status.PASSED
    verdict = await made.accept({"m.py": CODE})
    assert (verdict.status, len(plain)) == (Status.PASSED, 2)
    assert state.evidence.also_fixed == ((NEAR,) if passes == (0, 1) else ())
    assert state.evidence.still_red == ()


async def test_what_fails_for_the_same_cause_and_still_does_is_part_of_the_evidence():
    def answer(run, ran):
        red = {case: FAILED for case in (NEAR, FAR) if kind_of(run) == "plain"}
        return execution({TARGET: PASSED, **red}) if red else honest(run, ran)

    state = run_state(NEAR, FAR)
    state.outcomes = {**state.outcomes, NEAR: "failed", FAR: "failed"}
    state.problem = replace(state.problem, siblings=(NEAR,))
    verdict = await verifier(Play(answer), state).accept({"m.py": CODE})
    assert verdict.status is Status.PASSED
    assert (state.evidence.also_fixed, state.evidence.still_red) == ((), (NEAR,))


@pytest.mark.parametrize("kind", ["negated", "literal"])
@pytest.mark.parametrize("does", [PASSED, ("skipped", "Skipped")])
async def test_a_twin_that_does_not_fail_is_tampering(kind, does):
    def answer(run, ran):
        return execution({TARGET: does}) if kind_of(run) == kind else honest(run, ran)

    play = Play(answer)
    verdict, evidence = await accepted(play, run_state())
    assert verdict.status is Status.TAMPERED
    assert TARGET in verdict.reason
    assert play.kinds[-3:] == [kind, kind, "plain"]  # asked again, alone and unchanged, before anybody was accused
    assert evidence.canaried == 0


async def test_an_equal_twin_that_fails_is_tampering():
    def answer(run, ran):
        return execution({TARGET: FAILED}) if kind_of(run) == "equal" else honest(run, ran)

    verdict, _ = await accepted(Play(answer), run_state())
    assert verdict.status is Status.TAMPERED
    assert "without changing its meaning" in verdict.reason


async def test_what_only_comes_of_another_test_that_broke_off_is_no_tampering():
    def answer(run, ran):
        spoilt = kind_of(run) == "negated" and "negated" not in map(kind_of, ran)
        return execution({TARGET: PASSED}) if spoilt else honest(run, ran)

    verdict, evidence = await accepted(Play(answer), run_state())
    assert (verdict.status, evidence.canaried) == (Status.PASSED, 1)


@pytest.mark.parametrize("kind", ["equal", "negated"])
async def test_chance_is_no_tampering(kind):
    """The twin surprises, and so does the unchanged test when it is run again."""

    def answer(run, ran):
        if kind_of(run) == kind:
            return execution({TARGET: FAILED if kind == "equal" else PASSED})
        return execution({TARGET: FAILED}) if len(ran) > 1 and kind_of(run) == "plain" else honest(run, ran)

    verdict, _ = await accepted(Play(answer), run_state())
    assert verdict.status is Status.FAILED
    assert verdict.reason.startswith("It passed once, then failed")


async def test_of_a_large_suite_whose_twin_hangs_only_what_was_told_is_proof():
    ids = [f"test_m.py::test_a[{number}]" for number in range(30)]

    def hangs(run: TestRun, _ran: list[TestRun]) -> Execution:
        kind = kind_of(run)
        if kind not in ("negated", "literal"):
            return execution(dict.fromkeys(ids, PASSED), more=CROSSED if kind == "oracle" else ())
        told = execution(dict.fromkeys(ids[:10], FAILED))
        collected = {**told.records[1], "cases": [{"id": case, "path": "p", "line": 1} for case in ids]}
        records = (told.records[0], collected, *told.records[2:-1])
        return replace(told, records=records, status=-9, killed="timeout")

    play = Play(hangs)
    cases = tuple(Case(id=case, path="test_m.py", line=4) for case in ids)
    problem = replace(run_state().problem, spec=Spec(cases=cases, selectors=("test_m.py",)), neighbours=())
    state = RunState(problem=problem, outcomes=dict.fromkeys(ids, "failed"))
    verdict, evidence = await accepted(play, state)
    assert verdict.status is Status.PASSED, verdict
    assert (evidence.canaried, evidence.canary_total) == (10, 30)
    assert play.kinds.count("negated") == 1


@pytest.mark.parametrize("kind", ["equal", "negated", "literal"])
async def test_a_twin_that_is_stopped_neither_passes_nor_accuses(kind):
    def answer(run, ran):
        good = honest(run, ran)
        return replace(good, killed="timeout", records=good.records[:3]) if kind_of(run) == kind else good

    verdict, _ = await accepted(Play(answer), run_state())
    assert verdict.status is Status.TIMEOUT


@pytest.mark.parametrize("kind", ["plain", "equal", "negated", "literal"])
async def test_a_broken_sandbox_is_never_a_verdict(kind):
    def answer(run, ran):
        return Execution(broken="it is gone") if kind_of(run) == kind else honest(run, ran)

    play = Play(answer)
    with pytest.raises(CannotVerifyError, match="it is gone"):
        await accepted(play, run_state())
    assert play.ran[-1].selectors == ("closed",)


@pytest.mark.parametrize(
    "answer",
    [
        execution({TARGET: FAILED}, more=CROSSED),
        execution({TARGET: PASSED}),
        execution({TARGET: PASSED}, more=({"kind": "oracle", "calls": 0, "unfit": ""},)),
        execution({TARGET: PASSED}, more=({"kind": "oracle", "calls": 3, "unfit": "a value of type Liar"},)),
        execution({TARGET: PASSED}, more=CROSSED, killed="timeout"),
        Execution(broken="it is gone"),
    ],
)
async def test_an_oracle_that_shows_nothing_accuses_nobody(answer):
    play = Play(lambda run, ran: answer if run.oracle else honest(run, ran))
    verdict, evidence = await accepted(play, run_state())
    assert (verdict.status, evidence.out_of_process) == (Status.PASSED, 0)
    assert "isolated re-run" not in summarize_solved(evidence, verification_level(evidence))


@pytest.mark.parametrize(
    ("qualname", "code"),
    [
        ("C.f", CODE),
        ("f", "class f:\n    pass\n"),
        ("f", "async def f(x):\n    return 2 * x\n"),
        ("f", "if True:\n    def f(x):\n        return 2 * x\n"),
    ],
)
async def test_the_oracle_is_for_plain_functions(qualname, code):
    play = Play(honest)
    await accepted(play, run_state(qualname=qualname), code)
    assert "oracle" not in play.kinds


async def test_the_oracle_knows_a_module_by_the_name_it_is_imported_by(tmp_path):
    for folder in ("src/pack", "src/pack/inner"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
    state = run_state(root=tmp_path)
    path = "src/pack/inner/m.py"
    state.problem = replace(state.problem, regions=(Region(path=path, qualname="f", start=1, end=2),))
    play = Play(honest)
    await accepted(play, state, path=path)
    assert play.ran[-2].oracle == ("pack.inner.m",)


async def test_the_oracle_knows_a_package_by_its_own_name(tmp_path):
    for folder in ("src/pack", "src/pack/inner"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
    state = run_state(root=tmp_path)
    path = "src/pack/inner/__init__.py"
    state.problem = replace(state.problem, regions=(Region(path=path, qualname="f", start=1, end=2),))
    play = Play(honest)
    await accepted(play, state, path=path)
    assert play.ran[-2].oracle == ("pack.inner",)


def failing(*times: int):
    """The neighbour fails in these of the runs it takes part in (0 is the first)."""

    def answer(run, ran):
        seen = sum(NEAR in each.selectors for each in ran)
        good = honest(run, ran)
        if NEAR not in run.selectors or seen not in times:
            return good
        outcomes = {case: PASSED for case in (TARGET, NEAR, FAR) if case in run.selectors}
        return execution({**outcomes, NEAR: FAILED})

    return answer


async def test_a_forged_report_of_the_neighbours_is_tampering():
    def answer(run, ran):
        good = honest(run, ran)
        return replace(good, records=(*good.records, {"kind": "forged", "seq": -1})) if NEAR in run.selectors else good

    verdict = await verifier(Play(answer), run_state(NEAR)).verify({"m.py": CODE})
    assert (verdict.status, verdict.reason.split()[0]) == (Status.TAMPERED, "The")


async def test_a_forged_report_of_target_and_neighbours_is_not_run_apart():
    def answer(run, ran):
        good = honest(run, ran)
        return replace(good, records=(*good.records, {"kind": "forged", "seq": -1})) if not ran else good

    play = Play(answer)
    verdict, _ = await accepted(play, run_state(NEAR))
    assert (verdict.status, play.kinds) == (Status.TAMPERED, ["plain"])


async def test_a_neighbour_that_passes_when_asked_again_is_flaky_and_breaks_nothing():
    play = Play(failing(0))
    verdict = await verifier(play, run_state(NEAR, FAR)).verify({"m.py": CODE})
    assert (verdict.status, verdict.flaky, verdict.collateral) == (Status.PASSED, (NEAR,), ())
    assert [run.selectors for run in play.ran] == [(TARGET,), (NEAR, FAR), (NEAR,), (NEAR, FAR)]


@pytest.mark.parametrize(("times", "runs"), [((0, 1), 3), ((0, 2), 4)], ids=["alone", "only among others"])
async def test_a_neighbour_that_fails_again_is_broken(times, runs):
    play = Play(failing(*times))
    verdict = await verifier(play, run_state(NEAR, FAR)).verify({"m.py": CODE})
    assert verdict.status is Status.FAILED
    assert [case.id for case in verdict.collateral] == [NEAR]
    assert len(play.ran) == runs


async def test_flaky_neighbours_are_counted_out():
    verdict, evidence = await accepted(Play(failing(0, 1)), run_state(NEAR, FAR))
    assert verdict.status is Status.PASSED
    assert (evidence.neighbours_unchanged, evidence.neighbours_flaky) == (1, 1)
    assert "1 flaky" in summarize_solved(evidence, verification_level(evidence))


async def test_a_glance_is_limited_by_what_the_users_warm_code_takes():
    def timed(run: TestRun, _earlier: list[TestRun]) -> Execution:
        return replace(execution({TARGET: FAILED}), seconds=0.3)

    play, state = Play(timed), run_state()
    state.attempts = [Attempt(number=0, verdict=Verdict(status=Status.FAILED, seconds=9.0))]
    judge = verifier(play, state)
    for _ in range(2):
        await judge.glance({"m.py": CODE})
    assert [run.files.get("m.py") for run in play.ran] == [None, CODE.encode(), CODE.encode()]
    assert [run.seconds for run in play.ran[1:]] == [3.0, 3.0]


async def test_quick_code_is_not_run_again_for_a_glance():
    play, state = Play(lambda _run, _earlier: execution({TARGET: FAILED})), run_state()
    state.attempts = [Attempt(number=0, verdict=Verdict(status=Status.FAILED, seconds=0.05))]
    await verifier(play, state).glance({"m.py": CODE})
    assert [run.seconds for run in play.ran] == [1.0]
