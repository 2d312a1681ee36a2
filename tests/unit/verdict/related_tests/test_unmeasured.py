"""The related tests that nothing was known of before a candidate passed."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace

import pytest

from greenloop.core.records.verdict import Status, Verdict
from greenloop.verdict.related_tests.unmeasured import FIRST, LONGEST_PORTION, RESERVE, LatePolicy, UnmeasuredTests
from greenloop_sandbox import Execution, TestRun
from related_runs import TwoCodes, inputs

MANY = tuple(f"t.py::test_{number:04}" for number in range(1000))


def late_tests(
    session: TwoCodes, *cases: str, left: float = 600.0, usual: float = 0.0, **more: object
) -> UnmeasuredTests:
    may_take_all = bool(more.pop("may_take_all", True))
    durations = dict.fromkeys(cases, usual) if usual else {}

    async def open_session() -> TwoCodes:
        return session

    return UnmeasuredTests(
        inputs=replace(inputs(()), own={"own.py": b""}, unmeasured=cases),
        files={},
        open_session=open_session,  # type: ignore[arg-type]
        left=left,
        policy=LatePolicy(may_take_all=may_take_all, durations=lambda: durations),
        **more,  # type: ignore[arg-type]
    )


async def judge_unmeasured(session: TwoCodes, *cases: str, **more: object) -> Verdict:
    passed = Verdict(status=Status.PASSED)
    return await late_tests(session, *cases, **more).finish(session, passed)  # type: ignore[arg-type]


async def test_however_many_fail_as_before_none_is_said_not_to_have_run():
    failing = {*MANY[:40]}
    verdict = await judge_unmeasured(TwoCodes({"t.py": MANY}, failing, failing), *MANY)
    assert (verdict.status, verdict.related.late_failures, verdict.related.left_out) == (Status.PASSED, 40, 0)
    assert verdict.related.late_passes == len(MANY) - 40


async def test_one_that_fails_only_now_among_many_that_failed_before_is_found():
    failing = {*MANY[:40]}
    verdict = await judge_unmeasured(TwoCodes({"t.py": MANY}, failing, {*failing, MANY[50]}), *MANY)
    assert [result.id for result in verdict.collateral] == [MANY[50]]


async def test_behind_a_full_report_it_goes_on():
    session = TwoCodes({"t.py": MANY}, {MANY[-1]}, {MANY[-1], MANY[-2]}, most=30)
    verdict = await judge_unmeasured(session, "t.py")
    assert [result.id for result in verdict.collateral] == [MANY[-2]]
    verdict = await judge_unmeasured(TwoCodes({"t.py": MANY}, set(), set(), most=30), "t.py")
    assert (verdict.related.late_passes, verdict.related.left_out) == (len(MANY), 0)


async def test_a_file_without_tests_is_not_said_not_to_have_run():
    verdict = await judge_unmeasured(TwoCodes({"t.py": MANY, "empty.py": ()}, set(), set()), "t.py", "empty.py")
    assert (verdict.related.late_passes, verdict.related.left_out) == (len(MANY), 0)


async def test_a_file_that_could_never_be_collected_failed_before():
    broken = {"u.py"}
    session = TwoCodes({"t.py": MANY, "u.py": ("u.py::test",)}, broken, broken)
    verdict = await judge_unmeasured(session, "t.py", "u.py")
    assert (verdict.status, verdict.related.late_failures, verdict.related.left_out) == (Status.PASSED, 1, 0)


async def test_a_file_that_can_no_longer_be_collected_speaks_against_the_candidate():
    session = TwoCodes({"t.py": MANY, "u.py": ("u.py::test",)}, set(), {"u.py"})
    verdict = await judge_unmeasured(session, "t.py", "u.py")
    assert (verdict.status, [result.id for result in verdict.collateral]) == (Status.FAILED, ["u.py"])


class Clock:
    """Time that passes only where a session runs tests."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class SlowTests(TwoCodes):
    """As `TwoCodes`, with so many seconds for each test; a run is cut at its end. `asked`: how many each run had."""

    def __init__(self, clock: Clock, seconds: float, theirs: set[str]) -> None:
        super().__init__({"t.py": MANY}, set(), theirs)
        self.clock, self.seconds = clock, seconds
        self.asked: list[int] = []

    async def run(self, run: TestRun) -> Execution:
        asked = run.only or run.selectors
        self.asked.append(len(asked))
        ended = min(len(asked), int((run.seconds or 1e9) / self.seconds))
        self.clock.now += ended * self.seconds
        done = replace(run, selectors=asked[:ended], only=())
        execution = await super().run(done)
        return execution if ended == len(asked) else replace(execution, killed="timeout")


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_they_run_in_portions_and_stop_at_the_first_that_is_broken(clock):
    session = SlowTests(clock, 0.01, {MANY[FIRST + 1]})
    verdict = await judge_unmeasured(session, *MANY, clock=clock, most=1)
    assert [result.id for result in verdict.collateral] == [MANY[FIRST + 1]]
    assert session.asked == [FIRST, 300, 1, 1]  # as many as take three seconds; with the user's own code; and again


async def test_slow_ones_run_in_smaller_portions(clock):
    session = SlowTests(clock, 1.0, set())
    await judge_unmeasured(session, *MANY[:54], clock=clock, most=1)
    longest = int(LONGEST_PORTION)
    assert session.asked == [FIRST, *[longest] * 4, 7, 3, 3, 1]


async def test_those_whose_duration_is_known_run_in_fitting_portions_from_the_start(clock):
    session, counts = SlowTests(clock, 3.0, set()), []
    await judge_unmeasured(
        session, *MANY[:10], usual=3.0, report=lambda *count: counts.append(count), clock=clock, most=1
    )
    assert (session.asked[0], *counts[:2], counts[-1]) == (3, (0, 10), (3, 10), (10, 10))


async def test_more_than_the_usual_time_is_taken_where_it_suffices_for_all(clock):
    usual = inputs().suite_seconds
    session = SlowTests(clock, 2 * usual / len(MANY), set())
    verdict = await judge_unmeasured(session, *MANY, left=3 * usual + RESERVE, clock=clock, most=1)
    assert (verdict.related.late_passes, verdict.related.left_out) == (len(MANY), 0)


async def test_no_more_than_the_usual_time_is_taken_where_it_would_not_suffice(clock):
    usual = inputs().suite_seconds
    session = SlowTests(clock, 4 * usual / len(MANY), set())
    verdict = await judge_unmeasured(session, *MANY, left=3 * usual + RESERVE, clock=clock, most=1)
    assert verdict.related.late_left_out == len(MANY) - verdict.related.late_passes
    assert len(MANY) / 5 < verdict.related.late_passes <= len(MANY) / 4
    assert clock.now <= usual


async def test_no_more_is_taken_either_where_a_partially_verified_result_is_enough(clock):
    usual = inputs().suite_seconds
    session = SlowTests(clock, 2 * usual / len(MANY), set())
    verdict = await judge_unmeasured(session, *MANY, left=3 * usual + RESERVE, may_take_all=False, clock=clock, most=1)
    assert len(MANY) / 3 < verdict.related.late_passes <= len(MANY) / 2
    assert clock.now <= usual


async def test_the_time_of_the_run_is_kept(clock):
    session = SlowTests(clock, 1.0, set())
    verdict = await judge_unmeasured(session, *MANY, left=30.0 + RESERVE, clock=clock, most=1)
    assert (clock.now, verdict.related.late_passes, verdict.related.late_left_out) == (30.0, 30, len(MANY) - 30)


class WaitingTests(TwoCodes):
    """As `TwoCodes`; a run with more than the first portion ends only when `together` of them go on, or is cancelled."""

    def __init__(self, theirs: set[str], together: int) -> None:
        super().__init__({"t.py": MANY}, set(), theirs)
        self.together, self.going, self.cancelled = together, 0, 0
        self.all_here = asyncio.Event()
        self.asked: list[str] = []

    async def run(self, run: TestRun) -> Execution:
        asked = run.only or run.selectors
        if len(asked) < FIRST and self.theirs:
            return await super().run(run)
        self.asked += asked
        if len(self.asked) == FIRST:
            return await super().run(run)
        self.going += 1
        if self.going >= self.together:
            self.all_here.set()
        await self.all_here.wait()
        if self.theirs and not self.theirs & {*asked}:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        return await super().run(run)


@pytest.fixture
def machine() -> dict[str, object]:
    """Three processors, and a clock that goes on by a tenth of a second whenever it is read."""
    return {"most": 3, "clock": (number / 10 for number in itertools.count()).__next__}


async def test_many_run_in_a_sandbox_for_each_processor(machine):
    session = WaitingTests(set(), 3)
    verdict = await judge_unmeasured(session, *MANY, **machine)
    assert (verdict.related.late_passes, verdict.related.left_out) == (len(MANY), 0)
    assert sorted(session.asked) == sorted(MANY)
    assert session.closed == 2


async def test_one_that_is_broken_ends_the_other_sandboxes(machine):
    session = WaitingTests({MANY[2 * FIRST]}, 3)
    verdict = await judge_unmeasured(session, *MANY, **machine)
    assert [result.id for result in verdict.collateral] == [MANY[2 * FIRST]]
    assert (session.cancelled, session.closed) == (2, 2)


async def test_those_on_other_processors_begin_before_the_result_is_proven(machine):
    session = WaitingTests(set(), 1)
    tests = late_tests(session, *MANY, **machine)
    tests.start()
    while tests.waiting or tests.running:
        await asyncio.sleep(0)
    known = tests.count_in(Verdict(status=Status.PASSED))
    assert (known.related.late_passes, known.related.left_out) == (len(MANY), 0)
    await tests.stop()
    assert session.closed == 2


async def test_a_few_fast_ones_wait_until_it_is_proven(machine):
    session = WaitingTests(set(), 1)
    tests = late_tests(session, *MANY[:10], usual=0.1, **machine)
    tests.start()
    verdict = await tests.finish(session, Verdict(status=Status.PASSED))  # type: ignore[arg-type]
    assert (verdict.related.late_passes, session.closed) == (10, 0)


async def test_what_is_refuted_elsewhere_meanwhile_is_refuted_in_the_end(machine):
    session = TwoCodes({"t.py": MANY}, set(), {MANY[0]})
    tests = late_tests(session, *MANY, **machine)
    tests.start()
    await asyncio.sleep(0)
    assert not tests.goes_on
    verdict = await tests.finish(session, Verdict(status=Status.PASSED))  # type: ignore[arg-type]
    assert [result.id for result in verdict.collateral] == [MANY[0]]


async def test_all_are_left_out_where_nothing_is_known_of_the_users_own_code():
    session = TwoCodes({"t.py": MANY}, set(), set())
    tests = late_tests(session, *MANY)
    tests.inputs = replace(tests.inputs, own=None)
    tests.start()
    verdict = await tests.finish(session, Verdict(status=Status.PASSED))  # type: ignore[arg-type]
    assert (verdict.related.late_left_out, verdict.seconds) == (len(MANY), 0.0)
