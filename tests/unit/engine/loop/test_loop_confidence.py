"""How sure a model says it is, is recorded and decides nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from double_problem import BASELINE, HALF, PROBLEM, RIGHT, WRONG, judge_files, make_answer
from greenloop.core import registry
from greenloop.core.budget import Ledger
from greenloop.core.events import Started
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Budget, ChatRequest, Reply, Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.verdict import Status
from greenloop.core.run_state import RunState
from greenloop.drafting.search import chain
from greenloop.engine.loop import loop
from greenloop.engine.loop.parts import Parts


async def ran(answers: list[str], confidence: float, attempts: int):
    """A run of the chain whose critic is always this sure."""
    waiting = list(answers)

    async def ask(_request, _on_token) -> Reply:
        return Reply(text=make_answer(waiting.pop(0)), usage=Usage(completion_tokens=10), model="scripted")

    async def verify(files):
        return judge_files(files)

    async def describe(_problem, _attempts) -> tuple[FeedbackNote, ...]:
        return (FeedbackNote(text="I am sure.", fields={"confidence": confidence}),)

    parts = Parts(
        plan=chain.plan,
        assemble=lambda _problem, draft, _attempts: ChatRequest(messages=(), role=draft.role),
        ask=ask,
        verify=verify,
        glance=verify,
        accept=verify,
        describe=describe,
        model_of=lambda _draft: "scripted",
        count=len,
    )
    started = Started(
        problem=PROBLEM, baseline=BASELINE, model="scripted", preset="plain", sandbox="test", attempts=attempts
    )
    state = RunState(problem=PROBLEM, ledger=Ledger(Budget(attempts=attempts)))
    return await loop.refine(state, started, parts, lambda _event: None)


async def test_a_failing_candidate_is_not_accepted_however_sure_the_model_is():
    outcome = await ran(WRONG, 0.99, 2)
    assert not outcome.solved
    assert outcome.reason is StopReason.ATTEMPTS
    assert [attempt.confidence for attempt in outcome.attempts[1:]] == [0.99, 0.99]
    assert not any(attempt.accepted for attempt in outcome.attempts)


async def test_a_passing_candidate_is_accepted_however_unsure_the_model_is():
    outcome = await ran([HALF, RIGHT], 0.01, 5)
    assert outcome.solved
    assert outcome.best == 2


async def test_runs_differ_in_the_recorded_confidence_alone():
    unsure, sure = await ran([*WRONG, HALF], 0.01, 4), await ran([*WRONG, HALF], 0.99, 4)

    def blank(outcome):
        return replace(
            outcome, attempts=tuple(replace(attempt, confidence=None, notes=()) for attempt in outcome.attempts)
        )

    assert sure != unsure
    assert blank(sure) == blank(unsure)


@pytest.mark.parametrize("name", registry.list_parts("search"))
async def test_no_search_reads_it(name):
    plan = registry.load_part("search", name).plan
    attempts = list((await ran([*WRONG[:3], HALF], 0.5, 4)).attempts)
    assert attempts[1].verdict.status is Status.FAILED

    def said(confidence: float) -> list[Attempt]:
        return [
            replace(attempt, confidence=confidence, notes=(FeedbackNote(text="", fields={"confidence": confidence}),))
            for attempt in attempts
        ]

    assert plan(PROBLEM, said(0.01)) == plan(PROBLEM, said(0.99)) == plan(PROBLEM, attempts)
