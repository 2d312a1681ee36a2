"""What is known of a pass that the run's time does not suffice to prove."""

from __future__ import annotations

import asyncio

import pytest

from fake_time import deadline, run_in_fake_time
from greenloop.core.records.outcome import Verified
from greenloop.core.records.verdict import Status
from greenloop.core.summary import verification_level
from greenloop.wording.outcome import summarize_solved
from greenloop_sandbox import Limits
from scripted_proof import CODE, FAR, NEAR, TARGET, Play, execution, honest, run_state, verifier


class SlowPlay(Play):
    """A session in which every run takes ten seconds."""

    async def run(self, run):
        await asyncio.sleep(10.0)
        return await super().run(run)


def proved_within(seconds: float, *neighbours: str, sees: bool = True):
    """The verdict, the evidence, what was run, and when it ended."""
    play, state = SlowPlay(honest), run_state(*neighbours)

    async def run():
        judge = verifier(play, state)
        if sees:
            assert (await judge.verify({"m.py": CODE})).status is Status.PASSED
            play.ran.clear()
        state.deadline = deadline(seconds)
        return await judge.accept({"m.py": CODE}), asyncio.get_running_loop().time() - (10.0 if sees else 0.0)

    (verdict, took), _end = run_in_fake_time(run)
    return verdict, state.evidence, play, took


@pytest.mark.parametrize(("seconds", "runs"), [(5.0, 1), (25.0, 3), (35.0, 4)])
def test_a_pass_without_all_proofs_is_partially_verified_and_says_why(seconds, runs):
    verdict, evidence, play, took = proved_within(seconds)
    assert verdict.status is Status.PASSED
    assert (took, len(play.kinds)) == (seconds, runs - 1)
    assert evidence.unproven == {TARGET: "the run's time was over before it could be proven (`seconds`)"}
    level = verification_level(evidence)
    assert level is Verified.PARTIALLY
    assert "the run's time was over before it could be proven (`seconds`)" in summarize_solved(evidence, level)
    assert play.ran[-1].selectors == ("closed",)


def test_related_tests_that_nobody_knew_are_counted_as_not_run():
    play, state = SlowPlay(honest), run_state()

    async def run():
        judge = verifier(play, state)
        await judge.verify({"m.py": CODE})
        state.unmeasured = (NEAR, FAR)
        state.deadline = deadline(5.0)
        return await judge.accept({"m.py": CODE})

    run_in_fake_time(run)
    assert state.evidence.neighbours_left_out == 2


def test_a_candidate_that_was_never_seen_to_pass_does_not_pass_for_lack_of_time():
    verdict, evidence, _play, _took = proved_within(5.0, sees=False)
    assert verdict.status is Status.TIMEOUT
    assert evidence.proofs == {}


def test_with_enough_time_nothing_is_different():
    verdict, evidence, _play, _took = proved_within(100.0)
    assert (verdict.status, verification_level(evidence)) == (Status.PASSED, Verified.VERIFIED)


def test_related_tests_get_a_third_of_what_is_left_at_most():
    _verdict, _evidence, play, _took = proved_within(100.0, NEAR)
    assert play.ran[0].seconds < Limits().seconds + 100.0 / 3


async def test_of_a_file_that_nobody_collected_all_cases_are_run():
    def answer(run, ran):
        return execution({FAR: ("passed", None)}) if run.selectors == ("test_far.py",) else honest(run, ran)

    state = run_state()
    state.unmeasured = ("test_far.py",)
    judge = verifier(Play(answer), state)
    judge.own_code = dict
    await judge.accept({"m.py": CODE})
    assert (state.evidence.neighbours_unchanged, state.evidence.neighbours_left_out) == (1, 0)
