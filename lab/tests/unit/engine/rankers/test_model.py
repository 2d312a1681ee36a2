"""Candidates in the order of a ranker: only where a run takes long, and execution decides all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from double_problem import HALF, PROBLEM, RIGHT, WRONG, failing_verdict, judge_files, make_answer
from greenloop.core.budget import BudgetExceededError, Ledger
from greenloop.core.errors import ModelError
from greenloop.core.events import Started, Tested
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.model import Budget, ChatRequest, Message, Reply, Role, Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.engine.loop import loop
from greenloop.engine.loop.candidate_runs import NOT_RUN, find_duplicate, give_up, is_waiting
from greenloop.engine.loop.parts import Parts
from greenloop.project.settings import Settings
from greenloop_lab.engine.rankers.model import Ranker, run_seconds
from greenloop_lab.settings import RankerSettings

(REGION,) = PROBLEM.regions
SLOW = 30.0


class Slow:
    """A loop with four samples in its only round, whose runs take long; `orders` are the ranker's answers."""

    def __init__(self, answers: list[str], *orders: str | Exception, seconds: float = SLOW, **ranker) -> None:
        self.answers, self.orders = list(answers), list(orders)
        self.seconds = seconds
        self.questions: list[ChatRequest] = []
        self.ran: list[str] = []
        self.events: list = []
        self.unproved: set[str] = set()
        settings = Settings(plugins=(RankerSettings(**{"model": "scripted", **ranker}),))
        self.ranker = Ranker(settings=settings, ask=self.question, count=len)

    async def question(self, request: ChatRequest) -> Reply:
        self.questions.append(request)
        answer = self.orders.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(text=answer, usage=Usage(prompt_tokens=7, completion_tokens=3), model="ranker")

    async def ask(self, request: ChatRequest, on_token) -> Reply:
        return Reply(text=make_answer(self.answers.pop(0)), usage=Usage(completion_tokens=10), model="scripted")

    async def verify(self, files) -> Verdict:
        self.ran.append(files["m.py"].rpartition("return ")[2].strip())
        return replace(judge_files(files), seconds=self.seconds)

    async def accept(self, files) -> Verdict:
        if any(each in files["m.py"] for each in self.unproved):
            return failing_verdict()
        return judge_files(files)

    async def describe(self, problem, attempts):
        return ()

    def plan(self, problem, attempts) -> list[Draft]:
        count = min(4, len(self.answers))
        return [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=n / 10) for n in range(count)]

    async def run(self):
        baseline = Attempt(number=0, verdict=replace(failing_verdict(), seconds=self.seconds))
        request = ChatRequest(messages=(Message(role="user", content="Write it."),))
        parts = Parts(
            plan=self.plan,
            assemble=lambda *_draft: request,
            ask=self.ask,
            verify=self.verify,
            glance=self.verify,
            accept=self.accept,
            describe=self.describe,
            model_of=lambda _draft: "scripted",
            count=len,
            rank=self.ranker.rank,
        )
        started = Started(problem=PROBLEM, baseline=baseline, model="m", preset="p", sandbox="none", attempts=9)
        state = RunState(problem=PROBLEM, ledger=Ledger(Budget(attempts=9, tokens=10**9)))
        return await loop.refine(state, started, parts, self.events.append)


SAMPLES = [WRONG[0], HALF, RIGHT, WRONG[1]]


async def test_the_first_of_the_order_runs_first_and_after_a_pass_none():
    slow = Slow(SAMPLES, "3, 2, 1, 4")
    outcome = await slow.run()
    assert (outcome.reason, outcome.best) == (StopReason.SOLVED, 3)
    assert slow.ran == [RIGHT]
    assert [each.number for each in outcome.attempts] == [0, 1, 2, 3, 4]
    assert [each.error_class for each in outcome.attempts[1:]] == [NOT_RUN, NOT_RUN, "", NOT_RUN]
    assert outcome.attempts[3].usage.tokens == 20  # the answer, and the question about all
    assert [event.attempt.number for event in slow.events if isinstance(event, Tested)] == [1, 2, 3, 4]


async def test_a_wrong_order_costs_time_and_changes_no_verdict():
    slow = Slow(SAMPLES, "4, 2, 1, 3")
    outcome = await slow.run()
    assert (outcome.reason, outcome.best) == (StopReason.SOLVED, 3)
    assert slow.ran == [WRONG[1], HALF, WRONG[0], RIGHT]


async def test_what_passes_and_is_not_proved_lets_the_others_run():
    slow = Slow([WRONG[0], "x + x", RIGHT, WRONG[1]], "2, 3, 4, 1")
    slow.unproved = {"x + x"}
    outcome = await slow.run()
    assert slow.ran == ["x + x", RIGHT]
    assert (outcome.reason, outcome.best) == (StopReason.SOLVED, 3)


async def test_an_unreadable_answer_leaves_the_order():
    slow = Slow(SAMPLES, "The third, I think.")
    await slow.run()
    assert slow.ran == [WRONG[0], HALF, RIGHT]


@pytest.mark.parametrize(
    ("seconds", "ranker"),
    [(SLOW, {"model": ""}), (1.0, {}), (SLOW, {"after": 60.0})],
    ids=["no model", "fast", "another limit"],
)
async def test_nobody_is_asked_without_need(seconds, ranker):
    slow = Slow(SAMPLES, seconds=seconds, **ranker)
    outcome = await slow.run()
    assert slow.questions == []
    assert slow.ran == SAMPLES
    assert outcome.best == 3


def test_it_is_off_without_a_setting():
    assert RankerSettings().model == ""


@pytest.mark.parametrize("error", [ModelError("gone"), BudgetExceededError(StopReason.TOKENS)])
async def test_a_ranker_that_gives_no_answer_ends_nothing(error):
    slow = Slow([*WRONG[:4], *SAMPLES], error, "3, 1, 2, 4")
    outcome = await slow.run()
    assert outcome.solved
    assert slow.ran[:4] == WRONG[:4]
    assert len(slow.questions) == (1 if isinstance(error, ModelError) else 2)  # a model that is gone is left alone


async def test_a_single_candidate_is_not_asked_about():
    slow = Slow([RIGHT])
    await slow.run()
    assert slow.questions == []


def test_a_usual_run_is_the_median_of_those_that_ended():
    def ran(seconds: float, move: Move | None = Move.DRAFT, status: Status = Status.FAILED) -> Attempt:
        draft = Draft(parent=0, move=move, role=Role.DRAFTER) if move else None
        verdict = Verdict(status=status, seconds=seconds)
        return Attempt(number=0, draft=draft, verdict=verdict, candidate=Candidate(texts={}))

    assert run_seconds([ran(4.0, None)]) == 4.0
    hung, mutants = ran(90.0, status=Status.TIMEOUT), ran(50.0, Move.MUTATE)
    assert run_seconds([ran(4.0, None), hung, mutants, ran(6.0), ran(8.0)]) == 6.0
    assert run_seconds([]) == 0.0


def test_what_was_not_run_may_be_run_another_time():
    candidate = Candidate(texts={REGION: "def double(x):\n    return x\n"})
    waiting = Attempt(number=1, verdict=Verdict(status=Status.REFUSED), candidate=candidate)
    assert is_waiting(waiting)
    assert find_duplicate(PROBLEM, candidate, [waiting]) is waiting
    assert find_duplicate(PROBLEM, candidate, [give_up(waiting)]) is None
