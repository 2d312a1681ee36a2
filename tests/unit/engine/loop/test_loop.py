"""The loop by scripted answers: what goes in, the list of event summaries that comes out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.budget import BudgetExceededError, Ledger
from greenloop.core.election import best_attempt
from greenloop.core.errors import ModelError
from greenloop.core.events import Checked, Planned, Proposed, Started, Tested, Token
from greenloop.core.records.attempt import Attempt, Draft, FeedbackNote, Mask, Move
from greenloop.core.records.model import Budget, ChatRequest, Message, Reply, Role, Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.core.summary import total_usage
from greenloop.drafting.search import chain, ladder, restart_on_repeat
from greenloop.engine.loop import loop
from greenloop.engine.loop.parts import Parts
from greenloop_sandbox import CaseResult, Failure

SOURCE = "def double(x):\n    return x + 1\n"
CASE = Case(id="test_m.py::test_double", path="test_m.py", line=3)
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(CASE,), selectors=(CASE.id,)),
    regions=(Region(path="m.py", qualname="double", start=1, end=2),),
    originals={"m.py": SOURCE},
    files={"m.py": SOURCE},
)
WRONG, RIGHT = "x * 3", "x * 2"


def answer(expression: str) -> str:
    return f"```python\ndef double(x):\n    return {expression}\n```"


def verdict(observed: int) -> Verdict:
    if observed == 10:
        return Verdict(status=Status.PASSED, cases=(CaseResult(id=CASE.id, outcome="passed"),))
    failure = Failure(type="AssertionError", message=f"assert {observed} == 10", expected="10", observed=str(observed))
    return Verdict(status=Status.FAILED, cases=(CaseResult(id=CASE.id, outcome="failed", failure=failure),))


class Stage:
    """Scripted model, in-process execution of the one function, everything recorded."""

    def __init__(self, *answers: str, accept: Verdict | None = None, plan=chain.plan, tokens: int = 10) -> None:
        self.answers = list(answers)
        self.events: list = []
        self.prompts: list[ChatRequest] = []
        self.accepted: Verdict | None = accept
        self.runs = 0
        self.plan = plan
        self.tokens = tokens
        self.problem = PROBLEM
        self.again = lambda *_question: None

    async def ask(self, completion: ChatRequest, on_token) -> Reply:
        self.prompts.append(completion)
        if not self.answers:
            raise ModelError("The script has no more answers.")
        text = self.answers.pop(0)
        await asyncio.sleep(0)  # as a real model gives way
        on_token(text)
        return Reply(text=text, usage=Usage(prompt_tokens=self.tokens, completion_tokens=self.tokens), model="scripted")

    async def verify(self, files) -> Verdict:
        self.runs += 1
        space: dict = {}
        exec(files["m.py"], space)
        return verdict(space["double"](5))

    async def accept(self, files) -> Verdict:
        return self.accepted or await self.verify(files)

    async def describe(self, problem, attempts) -> tuple[FeedbackNote, ...]:
        case = attempts[-1].verdict.cases
        return (FeedbackNote(text=case[0].failure.message if case and case[0].failure else ""),)

    def assemble(self, problem, draft, attempts) -> ChatRequest:
        parent = attempts[draft.parent]
        text = " | ".join(note.text for note in parent.notes)
        return ChatRequest(
            messages=(Message(role="user", content=text),), role=draft.role, temperature=draft.temperature
        )

    async def run(self, **budget):
        parts = Parts(
            plan=self.plan,
            assemble=self.assemble,
            ask=self.ask,
            verify=self.verify,
            glance=self.verify,
            accept=self.accept,
            describe=self.describe,
            model_of=lambda draft: f"model of {draft.role}",
            count=len,
            again=self.again,
        )
        baseline = Attempt(number=0, verdict=verdict(6), error_class="AssertionError")
        started = Started(
            problem=self.problem, baseline=baseline, model="scripted", preset="plain", sandbox="test", attempts=5
        )
        state = RunState(problem=self.problem, ledger=Ledger(Budget(**budget)))
        return await loop.refine(state, started, parts, self.events.append)

    def summary(self) -> list[str]:
        return [summarised(event) for event in self.events]


def summarised(event) -> str:
    match event:
        case Started():
            return "started"
        case Planned(attempt=number, draft=draft, model=model):
            return f"planned {number} {draft.move} of {draft.parent} by {model}"
        case Token(attempt=number):
            return f"token {number}"
        case Proposed(attempt=number):
            return f"proposed {number}"
        case Checked(attempt=number, error_class=kind):
            return f"checked {number} {kind}".strip()
        case Tested(attempt=attempt):
            return f"tested {attempt.number} {attempt.verdict.status} {attempt.error_class}".strip()
    raise AssertionError(event)


async def test_two_answers_are_merged_without_a_model():
    text = "def double(x):\n    return half(x) * 3\n\n\ndef half(x):\n    return x\n"
    half = Region(path="m.py", qualname="half", start=5, end=6)
    answers = [answer("half(x) * 4"), answer("x / 2").replace("double", "half")]
    stage = Stage(*answers, plan=plan_answers_then_merges)
    stage.problem = replace(PROBLEM, originals={"m.py": text}, files={"m.py": text}, suspects=(half,))
    outcome = await stage.run()
    assert outcome.solved
    merged = outcome.attempts[-1]
    assert (merged.draft.move, merged.parent, merged.draft.others) == (Move.MERGE, 2, (1,))
    assert len(merged.candidate.texts) == 2
    assert len(stage.prompts) == 2


def plan_answers_then_merges(problem, attempts):
    answers = [Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, regions=each) for each in ((), problem.suspects)]
    return answers[len(attempts) - 1 : len(attempts)] or ladder._merges(attempts)


async def test_wrong_then_right():
    stage = Stage(answer(WRONG), answer(RIGHT))
    outcome = await stage.run()
    assert stage.summary() == [
        "started",
        "planned 1 draft of 0 by model of drafter",
        "token 1",
        "proposed 1",
        "checked 1",
        "tested 1 failed AssertionError",
        "planned 2 refine of 1 by model of refiner",
        "token 2",
        "proposed 2",
        "checked 2",
        "tested 2 passed",
    ]
    assert (outcome.solved, outcome.reason, outcome.best) == (True, StopReason.SOLVED, 2)
    assert outcome.usage.tokens == 40
    assert stage.prompts[1].messages[0].content == "assert 15 == 10"
    assert [prompt.role for prompt in stage.prompts] == [Role.DRAFTER, Role.REFINER]


async def test_right_at_once_is_one_call():
    stage = Stage(answer(RIGHT))
    outcome = await stage.run()
    assert outcome.solved
    assert len(stage.prompts) == 1


async def test_the_limit_counts_candidates_and_makes_no_wasted_call():
    stage = Stage(*[answer(f"x * {n}") for n in range(3, 20)])
    outcome = await stage.run(attempts=5)
    assert (outcome.solved, outcome.reason) == (False, StopReason.ATTEMPTS)
    assert len(stage.prompts) == 5
    assert stage.runs == 5


async def test_rubbish_is_data_and_never_reaches_the_sandbox():
    stage = Stage("I am sorry.", "```python\ndef double(x:\n```", answer(RIGHT))
    outcome = await stage.run()
    assert outcome.solved
    assert [row for row in stage.summary() if row.startswith("tested")][:2] == [
        "tested 1 refused NoCode",
        "tested 2 refused SyntaxError",
    ]


async def test_tokens_end_the_run_also_for_unreadable_answers():
    stage = Stage(*["no code"] * 9, tokens=30)
    outcome = await stage.run(tokens=100)
    assert outcome.reason is StopReason.TOKENS
    assert len(stage.prompts) == 2


async def test_what_acceptance_refuses_is_a_failed_attempt():
    tampered = Verdict(status=Status.TAMPERED, reason="it makes every assertion true")
    stage = Stage(answer(RIGHT), accept=tampered)
    outcome = await stage.run(attempts=1)
    assert not outcome.solved
    assert outcome.best is None
    assert outcome.attempts[1].verdict.status is Status.TAMPERED


async def test_the_best_attempt_is_never_replaced_by_a_worse_one():
    good = Attempt(number=1, candidate=object(), verdict=Verdict(status=Status.FAILED, cases=cases("passed", "failed")))
    worse = Attempt(
        number=2, candidate=object(), verdict=Verdict(status=Status.FAILED, cases=cases("failed", "failed"))
    )
    assert best_attempt([good, worse]).number == 1
    assert best_attempt([]) is None


def cases(*outcomes: str) -> tuple[CaseResult, ...]:
    return tuple(CaseResult(id=str(number), outcome=outcome) for number, outcome in enumerate(outcomes))


async def test_a_model_that_gives_up_leaves_the_loop():
    with pytest.raises(ModelError):
        await Stage(answer(WRONG)).run()


async def test_a_repeated_failure_restarts_hotter_and_without_the_failing_code():
    stage = Stage(answer(WRONG), answer("3 * x"), answer("x + x + x"), answer(RIGHT), plan=restart_on_repeat.plan)
    outcome = await stage.run()
    assert outcome.solved
    planned = [row for row in stage.summary() if row.startswith("planned")]
    assert [row.split(" by")[0] for row in planned] == [
        "planned 1 draft of 0",
        "planned 2 refine of 1",
        "planned 3 restart of 0",
        "planned 4 restart of 0",
    ]
    assert [prompt.temperature for prompt in stage.prompts] == [0.0, 0.0, 0.4, 0.8]


async def test_code_that_comes_back_unchanged_restarts_at_once():
    stage = Stage(answer("x + 1"), answer(RIGHT), plan=restart_on_repeat.plan)
    outcome = await stage.run()
    assert outcome.solved
    assert stage.summary()[5] == "tested 1 refused Unchanged"
    assert (stage.prompts[1].role, stage.prompts[1].temperature) == (Role.DRAFTER, 0.4)


def several(*drafts: Draft):
    """A plan with one round of these drafts, then nothing."""

    def plan(_problem, attempts):
        return drafts if len(attempts) == 1 else ()

    return plan


SAMPLE = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, temperature=0.8)


async def test_a_round_is_asked_side_by_side_and_all_tested():
    stage = Stage(answer(WRONG), answer(RIGHT), answer("x * 4"), plan=several(SAMPLE, SAMPLE, SAMPLE))
    outcome = await stage.run()
    assert [row for row in stage.summary() if row.startswith(("planned", "tested"))] == [
        "planned 1 draft of 0 by model of drafter",
        "planned 2 draft of 0 by model of drafter",
        "planned 3 draft of 0 by model of drafter",
        "tested 1 failed AssertionError",
        "tested 2 passed",
        "tested 3 failed AssertionError",
    ]
    assert (outcome.solved, outcome.best) == (True, 2)
    assert [prompt.seed for prompt in stage.prompts] == [1, 2, 3]


class Interrupted(Stage):
    """A stage whose questions with these numbers get no answer."""

    def __init__(self, *answers: str, lost: set[int], **fields) -> None:
        super().__init__(*answers, **fields)
        self.lost = lost

    async def ask(self, completion: ChatRequest, on_token) -> Reply:
        if len(self.prompts) + 1 in self.lost:
            self.prompts.append(completion)
            raise ModelError(f"Question {len(self.prompts)} was refused.")
        return await super().ask(completion, on_token)


async def test_a_round_goes_on_with_the_answers_that_arrived():
    stage = Interrupted(answer(WRONG), answer(RIGHT), lost={1, 3}, plan=several(*[SAMPLE] * 4))
    outcome = await stage.run()
    assert (outcome.solved, outcome.best) == (True, 2)
    assert [attempt.number for attempt in outcome.attempts] == [0, 1, 2]
    assert outcome.usage.tokens == 40
    assert [row for row in stage.summary() if row.startswith("tested")] == [
        "tested 1 failed AssertionError",
        "tested 2 passed",
    ]


async def test_a_question_without_an_answer_is_no_attempt_and_is_asked_again():
    def plan(_problem, attempts):
        return [SAMPLE, SAMPLE] if len(attempts) == 1 else [SAMPLE]

    stage = Interrupted(answer(WRONG), answer(RIGHT), lost={1}, plan=plan)
    outcome = await stage.run(attempts=2)
    assert outcome.solved
    assert [prompt.seed for prompt in stage.prompts] == [1, 2, 2]


async def test_a_round_without_any_answer_ends_the_run_with_the_first_error():
    stage = Interrupted(lost={1, 2}, plan=several(SAMPLE, SAMPLE))
    with pytest.raises(ModelError, match="Question 1 was refused"):
        await stage.run()


async def test_of_those_that_pass_the_one_nearest_to_the_users_code_is_taken():
    longer = "```python\ndef double(x):\n    y = x\n    return x + y\n```"
    stage = Stage(longer, answer(RIGHT), plan=several(SAMPLE, SAMPLE))
    outcome = await stage.run()
    assert outcome.best == 2
    assert [attempt.accepted for attempt in outcome.attempts] == [False, False, True]


async def test_a_repeated_candidate_is_never_run_again():
    stage = Stage(answer(WRONG), answer(f"({WRONG})"), plan=several(SAMPLE, SAMPLE))
    outcome = await stage.run()
    assert stage.runs == 1
    assert [attempt.error_class for attempt in outcome.attempts[1:]] == ["AssertionError", "Repeated"]
    assert outcome.attempts[2].verdict.reason == "The answer repeats attempt 1."


async def test_one_token_changes_need_no_model_and_count_as_no_candidate():
    mutate = Draft(parent=0, move=Move.MUTATE, role=Role.REFINER)
    stage = Stage(plan=several(mutate))
    source = SOURCE.replace("x + 1", "x * 1")
    stage.problem = replace(PROBLEM, originals={"m.py": source}, files={"m.py": source})
    outcome = await stage.run(attempts=1)
    assert (outcome.solved, outcome.usage.tokens, stage.prompts) == (True, 0, [])
    assert outcome.attempts[1].candidate.texts[PROBLEM.regions[0]] == SOURCE.replace("x + 1", "x * 2")


async def test_a_hole_is_filled_where_the_model_can():
    mask = Mask(region=PROBLEM.regions[0], start=2, end=2)
    stage = Stage("return x * 2", plan=several(Draft(parent=0, move=Move.INFILL, role=Role.REFINER, masked=mask)))
    outcome = await stage.run()
    assert outcome.solved
    assert outcome.attempts[1].candidate.texts[PROBLEM.regions[0]] == "def double(x):\n    return x * 2\n"


async def test_an_unreadable_answer_is_asked_for_once_more_and_billed():
    stage = Stage("I am sorry.", answer(RIGHT))
    stage.again = lambda _problem, request, _reply, finding: request if finding.error_class == "NoCode" else None
    outcome = await stage.run()
    assert (outcome.solved, outcome.best, outcome.usage.tokens) == (True, 1, 40)


async def test_a_loop_in_an_answer_is_asked_for_once_more_and_never_run():
    branches = "".join(f"    elif x == {n}:\n        return {2 * n}\n" for n in range(1, 31))
    chain = f"```python\ndef double(x):\n    if x == 0:\n        return 0\n{branches}```"
    stage = Stage(chain, answer(RIGHT))
    stage.again = lambda _problem, request, _reply, finding: request if finding.error_class == "Repetition" else None
    outcome = await stage.run()
    assert (outcome.solved, len(stage.prompts), stage.runs) == (True, 2, 2), "one candidate: verified and accepted"
    stage = Stage(chain, chain)
    outcome = await stage.run(attempts=1)
    assert (stage.runs, outcome.attempts[1].error_class) == (0, "Repetition")


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("def double(x):\n    return x * factor\n", "UndefinedName", "name `factor` is not defined"),
        ("def double(x, factor):\n    return x * factor\n", "SignatureChanged", "its parameters must stay"),
        ("def double(x):\n    return x * (2\n", "SyntaxError", "was never closed"),
    ],
)
async def test_what_static_analysis_refuses_never_runs_and_is_told(text, error, told):
    stage = Stage(f"```python\n{text}```", answer(RIGHT))
    outcome = await stage.run()
    first = outcome.attempts[1]
    assert (first.error_class, first.verdict.status) == (error, Status.REFUSED)
    assert told in first.verdict.reason
    assert (outcome.solved, stage.runs) == (True, 2), "only the second candidate: verified and accepted"


async def test_unreadable_answers_in_a_row_end_the_run():
    stage = Stage(*["no code"] * 9)
    outcome = await stage.run(attempts=9, unreadable=3)
    assert outcome.reason is StopReason.ANSWERS
    assert len(stage.prompts) == 3


async def test_each_suspect_has_its_share_of_unreadable_answers():
    suspects = [Region(path="m.py", qualname=name, start=1, end=2) for name in "gh"]

    def plan(_problem, attempts):
        regions = ((), *((each,) for each in suspects))[(len(attempts) - 1) % 3]
        return [replace(SAMPLE, regions=regions, temperature=len(attempts) / 10)]

    stage = Stage(*["no code"] * 9, plan=plan)
    stage.problem = replace(PROBLEM, suspects=tuple(suspects))
    outcome = await stage.run(attempts=20, unreadable=2)
    assert outcome.reason is StopReason.ANSWERS
    assert len(stage.prompts) == 6


async def test_a_models_confidence_decides_nothing():
    stage = Stage(answer(WRONG), answer(RIGHT))

    async def describe(_problem, _attempts):
        return (FeedbackNote(text="fine", fields={"confidence": 0.99}),)

    stage.describe = describe
    outcome = await stage.run()
    assert [attempt.confidence for attempt in outcome.attempts] == [None, 0.99, 0.99]
    assert [attempt.accepted for attempt in outcome.attempts] == [False, False, True]


@pytest.mark.parametrize("error", [BudgetExceededError(StopReason.TOKENS), ModelError("The critic is gone.")])
async def test_no_attempt_is_lost_where_asking_about_it_ends_the_run(error):
    stage = Stage(answer(WRONG))

    async def describe(_problem, attempts):
        raise error

    stage.describe = describe
    if isinstance(error, BudgetExceededError):
        outcome = await stage.run()
        assert (outcome.reason, outcome.best, len(outcome.attempts)) == (StopReason.TOKENS, 1, 2)
    else:
        with pytest.raises(ModelError):
            await stage.run()
    assert stage.summary()[-1] == "tested 1 failed AssertionError"


async def test_nobody_is_asked_about_what_failed_beside_a_solution():
    stage = Stage(answer(WRONG), answer(RIGHT), plan=several(SAMPLE, SAMPLE))
    asked = []

    async def describe(_problem, attempts):
        asked.append(attempts[-1].number)
        return ()

    stage.describe = describe
    outcome = await stage.run(attempts=2)
    assert (outcome.solved, outcome.best, asked) == (True, 2, [2])
    assert [row for row in stage.summary() if row.startswith("tested")] == [
        "tested 1 failed AssertionError",
        "tested 2 passed",
    ]


async def test_what_parts_ask_is_billed():
    stage = Stage(answer(WRONG))

    async def describe(_problem, _attempts):
        return (FeedbackNote(text="", usage=Usage(prompt_tokens=7)),)

    stage.describe = describe
    outcome = await stage.run(attempts=1)
    assert total_usage(outcome.attempts).tokens == 27


async def test_holes_that_were_left_empty_are_no_unreadable_answers():
    masks = [Mask(region=PROBLEM.regions[0], start=2, end=2)] * 3
    holes = [Draft(parent=0, move=Move.INFILL, role=Role.REFINER, masked=mask) for mask in masks]

    def plan(_problem, attempts):
        return holes if len(attempts) == 1 else [SAMPLE] if len(attempts) == 4 else ()

    outcome = await Stage("", "", "", answer(RIGHT), plan=plan).run(unreadable=3)
    assert outcome.solved


async def test_changes_that_pass_by_the_handful_are_not_believed():
    mutate = Draft(parent=0, move=Move.MUTATE, role=Role.REFINER)
    stage = Stage(plan=several(mutate))

    async def everything_passes(_files):
        return verdict(10)

    stage.verify = everything_passes
    outcome = await stage.run()
    assert not outcome.solved
    assert outcome.attempts[1].error_class == "NoGain"
    assert "too weak to choose" in outcome.attempts[1].verdict.reason


async def test_a_round_that_the_budget_cuts_keeps_what_was_answered():
    stage = Stage(answer(WRONG), answer("x * 4"), answer("x * 5"), plan=several(SAMPLE, SAMPLE, SAMPLE), tokens=512)
    outcome = await stage.run(tokens=2 * 1024 + 10)
    assert outcome.reason is StopReason.TOKENS
    assert [attempt.number for attempt in outcome.attempts] == [0, 1, 2]
    assert outcome.usage.tokens == 2 * 1024


async def test_an_attempt_is_not_lost_when_nobody_can_describe_it():
    stage = Stage(answer(WRONG))

    async def describe(_problem, _attempts):
        raise BudgetExceededError(StopReason.COST)

    stage.describe = describe
    outcome = await stage.run()
    assert (outcome.reason, outcome.best) == (StopReason.COST, 1)
    assert stage.summary()[-1] == "tested 1 failed AssertionError"


async def test_a_change_that_passes_more_tests_and_not_all_says_why_it_fails():
    stage = Stage(plan=several(Draft(parent=0, move=Move.MUTATE, role=Role.REFINER)))
    seen = verdict(7)

    async def half(_files):
        return replace(seen, cases=(*cases("passed"), *seen.cases), seconds=0.5)

    stage.verify = half
    outcome = await stage.run()
    made = outcome.attempts[1]
    assert (made.verdict.score, made.error_class, made.group) == (0.5, "AssertionError", ErrorGroup.LOGIC)
    assert made.usage.test_seconds >= 0.5


class NextBest(Stage):
    """Each filling comes with the next best one."""

    async def ask(self, completion: ChatRequest, on_token) -> Reply:
        return replace(await super().ask(completion, on_token), others=("return x * 2",))


async def test_the_next_best_filling_is_tried_where_it_is_asked_for():
    mask = Mask(region=PROBLEM.regions[0], start=2, end=2)
    second = Draft(parent=0, move=Move.INFILL, role=Role.REFINER, masked=mask, choice=1)
    stage = NextBest("return x * 3", plan=several(second))
    outcome = await stage.run()
    assert outcome.solved
    assert outcome.attempts[1].answer == "return x * 2"


async def test_a_model_that_knows_no_other_filling_is_sampled():
    mask = Mask(region=PROBLEM.regions[0], start=2, end=2)
    second = Draft(parent=0, move=Move.INFILL, role=Role.REFINER, masked=mask, choice=1)
    outcome = await Stage("return x * 2", plan=several(second)).run(attempts=1)
    assert outcome.solved


class Writing(Stage):
    """Writes its answer in pieces and never ends by itself."""

    ended = False

    async def ask(self, completion: ChatRequest, on_token) -> Reply:
        try:
            for piece in ("```python\n", "def double(x):\n", "    return x + 1\n"):
                on_token(piece)
                await asyncio.sleep(0)
            await asyncio.Event().wait()
        finally:
            self.ended = True
        raise AssertionError


async def test_an_answer_that_repeats_the_code_is_stopped_and_billed():
    stage = Writing()
    async with asyncio.timeout(5):
        outcome = await stage.run(attempts=1)
    attempt = outcome.attempts[1]
    assert stage.ended
    assert (attempt.error_class, attempt.candidate, attempt.model) == ("Unchanged", None, "model of drafter")
    assert attempt.usage.completion_tokens == 3
    assert outcome.usage.tokens == attempt.usage.tokens
    assert stage.runs == 0
