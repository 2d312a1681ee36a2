"""What a whole run keeps to, whatever the model answers: real prompts, roles and gate, the tests decided by a table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from double_problem import PROBLEM, RIGHT, WRONG
from greenloop.core.election import best_attempt
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.model import Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.verdict import Status, Verdict
from greenloop_sandbox import CaseResult
from simulated_run import SimulatedRun

TIDY_BUT_WRONG = 'def double(x):\n    """Twice x."""\n    return x + 1\n'
UNTIDY_BUT_RIGHT = "import string\n\n\ndef double(x):\n    l = x;  unused=[ ]\n    return (l+l)\n"


@pytest.fixture(autouse=True)
def _own_configuration(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def fenced(text: str) -> str:
    return f"```python\n{text}```"


async def test_the_second_question_holds_the_task_the_first_answer_and_its_error():
    play = SimulatedRun([WRONG[0], RIGHT], preset="plain")
    outcome = await play.run()
    assert (outcome.solved, len(play.log), len(play.texts)) == (True, 2, 3)  # the last run is the acceptance
    first, second = (request.messages for _name, request in play.log)
    assert second[0] == first[0]
    assert first[1].content.startswith(second[1].content)
    assert f"return {WRONG[0]}" in second[2].content
    assert "assert 6 == 10" in second[3].content


async def test_tests_come_first_and_tidiness_after_them():
    play = SimulatedRun([fenced(TIDY_BUT_WRONG), fenced(UNTIDY_BUT_RIGHT), *WRONG[1:9]], preset="best-of-n")
    outcome = await play.run()
    assert (outcome.solved, outcome.best) == (True, 2)


async def test_another_signature_is_refused_and_the_model_is_told():
    play = SimulatedRun([fenced("def double(x, times):\n    return x * times\n"), RIGHT], preset="plain")
    outcome = await play.run()
    refused = outcome.attempts[1]
    assert refused.verdict.status is Status.REFUSED
    assert refused.finding.message in play.log[1][1].messages[-1].content
    assert not any("times" in text for text in play.texts)


def single_test(answers: list[str], *, slots: int, **settings: object) -> SimulatedRun:
    """A run for one test, so that no one-token change is tried, with a model that answers so many requests at once."""
    problem = replace(PROBLEM, spec=replace(PROBLEM.spec, cases=PROBLEM.spec.cases[:1]))
    play = SimulatedRun(answers, problem, **settings)
    calls = play.parts.calls
    calls.preset = replace(calls.preset, context=("source", "tests"))  # the others look into a sandbox
    play.models.opened["fake/a"].slots = slots
    return play


async def test_a_model_with_one_slot_is_asked_for_one_answer_after_the_other():
    play = single_test([*WRONG[:2], RIGHT], slots=1)
    outcome = await play.run()
    assert (outcome.solved, len(play.log), play.models.opened["fake/a"].most) == (True, 3, 1)
    play = single_test(WRONG, slots=1)
    outcome = await play.run()
    assert (outcome.reason, len(play.log)) == (StopReason.STALLED, 5)


async def test_a_model_with_room_is_asked_for_more_answers_in_rounds_that_grow():
    play = single_test([*WRONG, *[RIGHT] * 10], slots=16)
    outcome = await play.run()
    assert (outcome.solved, outcome.best, len(play.log)) == (True, 11, 1 + 4 + 5 + 10)
    assert play.models.opened["fake/a"].most == 10
    samples = [request for _name, request in play.log if request.temperature]
    assert len({request.seed for request in samples}) == len(samples)


async def test_a_model_that_repeats_itself_is_asked_no_more():
    play = single_test([*WRONG[:3], *[WRONG[2]] * 20], slots=4)
    outcome = await play.run()
    assert (outcome.reason, len(play.log)) == (StopReason.STALLED, 1 + 4 + 4 + 4)


async def test_the_limits_hold_for_wide_rounds():
    play = single_test([*WRONG, *[f"x + {number}" for number in range(20, 60)]], slots=16, attempts=12)
    outcome = await play.run()
    assert (outcome.reason, len(play.log)) == (StopReason.ATTEMPTS, 12)
    play = single_test([*WRONG, *[f"x + {number}" for number in range(20, 60)]], slots=16, tokens=2000)
    play.models.opened["fake/a"].usage = Usage(prompt_tokens=100, completion_tokens=50)
    outcome = await play.run()
    assert outcome.reason is StopReason.TOKENS
    assert 1800 <= outcome.usage.tokens <= 2000


def test_of_equal_scores_the_one_that_breaks_fewer_neighbours_is_better():
    cases = (CaseResult(id="a", outcome="passed"), CaseResult(id="b", outcome="failed"))
    broken = (CaseResult(id="c", outcome="failed"),)
    careless, careful, lesser = (
        Attempt(number=number, candidate=Candidate(texts={}), verdict=Verdict(status=Status.FAILED, **told))
        for number, told in enumerate(
            [{"cases": cases, "collateral": broken}, {"cases": cases}, {"cases": cases[1:]}], start=1
        )
    )
    assert best_attempt([careless, careful, lesser]) is careful
    assert best_attempt([careless, lesser]) is careless
