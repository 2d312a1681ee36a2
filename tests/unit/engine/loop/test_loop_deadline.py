"""What the loop does at the end of a run's time: a result that was found is still proved."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from double_problem import PROBLEM, failing_verdict, judge_files, make_answer
from fake_time import deadline, run_in_fake_time
from greenloop.core.events import Started, Tested
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import ChatRequest, Message, Reply, Role, Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.run_state import RunState
from greenloop.engine.loop import loop
from greenloop.engine.loop.parts import Parts

SAMPLE = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
WRONG, RIGHT = "x * 3", "x * 2"


class SlowRun:
    """A run in which an answer, a test and a proof take as many seconds as the test says."""

    def __init__(self, *answers: str, answer: float = 0.0, test: float = 0.0, proof: float = 0.0, at_once: int = 1):
        self.answers, self.at_once = [make_answer(text) for text in answers], at_once
        self.answer_seconds, self.test_seconds, self.proof_seconds = answer, test, proof
        self.events: list = []
        self.proved: list[float] = []

    async def ask(self, request, on_token) -> Reply:
        text = self.answers.pop(0)
        await asyncio.sleep(self.answer_seconds)
        return Reply(text=text, usage=Usage(), model="slow")

    async def verify(self, files):
        await asyncio.sleep(self.test_seconds)
        return judge_files(files)

    async def accept(self, files):
        await asyncio.sleep(self.proof_seconds)
        self.proved.append(asyncio.get_running_loop().time())
        return judge_files(files)

    def plan(self, _problem, _attempts):
        return [SAMPLE] * self.at_once if self.answers else []

    def __call__(self, seconds: float):
        async def run():
            async def describe(_problem, _attempts):
                return ()

            parts = Parts(
                plan=self.plan,
                assemble=lambda *_about: ChatRequest(messages=(Message(role="user", content=""),), role=Role.DRAFTER),
                ask=self.ask,
                verify=self.verify,
                glance=self.verify,
                accept=self.accept,
                describe=describe,
                model_of=lambda _draft: "slow",
                count=len,
            )
            baseline = Attempt(number=0, verdict=failing_verdict(), error_class="AssertionError")
            started = Started(
                problem=PROBLEM, baseline=baseline, model="slow", preset="plain", sandbox="test", attempts=5
            )
            state = RunState(problem=PROBLEM, deadline=deadline(seconds))
            return await loop.refine(state, started, parts, self.events.append)

        return run_in_fake_time(run)


def test_the_search_ends_before_the_time_that_is_kept():
    outcome, took = SlowRun(*[WRONG] * 9, answer=50.0)(100.0)
    assert outcome.reason is StopReason.SECONDS
    assert took == 75.0


def test_a_result_that_is_found_in_time_is_proved_in_the_time_that_is_kept():
    run = SlowRun(RIGHT, answer=70.0, proof=20.0)
    outcome, took = run(100.0)
    assert (outcome.solved, run.proved, took) == (True, [90.0], 90.0)


def test_a_pass_is_not_lost_where_others_of_its_round_are_still_tested():
    run = SlowRun(RIGHT, WRONG, "x * 4", test=30.0, proof=5.0, at_once=3)
    outcome, took = run(100.0)
    assert (outcome.solved, outcome.best, took) == (True, 1, 80.0)
    assert [event.attempt.number for event in run.events if isinstance(event, Tested)] == [1, 2]


def test_a_proof_without_an_end_is_cut():
    run = SlowRun(RIGHT, answer=10.0, proof=10_000.0)
    outcome, took = run(100.0)
    assert (outcome.solved, outcome.reason) == (False, StopReason.SECONDS)
    assert took <= 100.0 + loop.GRACE


def test_a_proof_that_fails_late_leaves_no_time_to_search():
    run = SlowRun(RIGHT, WRONG, answer=60.0, proof=20.0)
    failed = replace(failing_verdict(), reason="it does not repeat")
    prove = run.accept

    async def accept(files):
        await prove(files)
        return failed

    run.accept = accept
    outcome, took = run(100.0)
    assert (outcome.reason, len(outcome.attempts), took) == (StopReason.SECONDS, 2, 80.0)
