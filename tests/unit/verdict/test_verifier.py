"""What speaks for a candidate and what against it, with a session that answers as the test says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Verified
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.summary import verification_level
from greenloop.core.verification_inputs import ACCEPTING
from greenloop.wording.outcome import summarize_solved
from greenloop_sandbox import Execution, TestRun
from scripted_proof import (
    CODE,
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


async def test_an_honest_candidate_is_proved_in_four_runs_of_one_seed():
    play = Play(honest)
    verdict, evidence = await accepted(play, run_state(NEAR, FAR))
    assert verdict.status is Status.PASSED
    assert play.kinds == ["plain", "apart", "own", "apart again"]
    assert {run.hash_seed for run in play.ran[:-1]} == {ACCEPTING}
    assert (evidence.neighbours_unchanged, evidence.neighbours_flaky) == (2, 0)
    assert (evidence.proofs, evidence.unproven, evidence.together) == ({TARGET: ("apart",)}, {}, {})
    assert verification_level(evidence) is Verified.VERIFIED
    assert summarize_solved(evidence, Verified.VERIFIED).endswith(", proven apart 1/1.")


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


# -- related tests --------------------------------------------------------------------------------------------------


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
