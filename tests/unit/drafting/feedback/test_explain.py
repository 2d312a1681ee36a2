"""Feedback parts that ask a critic: their prompts, what they make of the answer, what it cost."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from greenloop.core.budget import BudgetExceededError, Ledger
from greenloop.core.errors import ModelError
from greenloop.core.events import Started
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import Attempt, Candidate, FeedbackNote, Finding
from greenloop.core.records.model import ChatRequest, Reply, Role
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.usage import Budget, Usage
from greenloop.core.records.verdict import CaseResult, ErrorGroup, Failure, Frame, Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.drafting import infill
from greenloop.drafting.candidates import gate, parse_answer, repetition, search_replace, signature
from greenloop.drafting.feedback import cases, raw
from greenloop.drafting.feedback._rejected_answers import ADVICE, rejection_sentence
from greenloop.drafting.feedback.published import best, bug_taxonomy, explain, generic, reflect, self_critique, summary
from greenloop.drafting.prompt import assemble
from greenloop.drafting.search import chain
from greenloop.engine import attempt_steps, loop
from greenloop.project import templates

MODULE = "def f(n):\n    return n\n"
TESTS = "from m import f\n\n\ndef test_one():\n    assert f(1) == 2\n\n\ndef test_two():\n    assert f(2) == 2\n"
REGION = Region(path="m.py", qualname="f", start=1, end=2)
TEXTS = {"m.py": MODULE, "test_m.py": TESTS}
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(
        cases=(
            Case(id="test_m.py::test_one", path="test_m.py", line=4),
            Case(id="test_m.py::test_two", path="test_m.py", line=8),
        ),
        selectors=("test_m.py",),
    ),
    regions=(REGION,),
    originals=TEXTS,
    files=TEXTS,
    instruction="Return twice the number.",
)
FAILURE = Failure(
    type="AssertionError",
    message="assert 1 == 2",
    frames=(Frame(path="test_m.py", line=5, function="test_one"),),
    text=">   assert f(1) == 2\nE   assert 1 == 2",
    expected="2",
    observed="1",
)
COST = Usage(prompt_tokens=70, completion_tokens=30, cost=0.01)
FAILING = "assert f(1) == 2  # output: 1"
ASKING = [explain, reflect, summary, bug_taxonomy]


@dataclass
class Critic:
    """Answers in order and keeps what it was asked."""

    answers: list[str | Exception]
    asked: list[ChatRequest] = field(default_factory=list)

    async def __call__(self, completion: ChatRequest) -> Reply:
        self.asked.append(completion)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(text=answer, usage=COST, model="critic")

    @property
    def prompt(self) -> str:
        return "\n".join(message.content for message in self.asked[-1].messages)


def tools(critic: Critic) -> Tools:
    return Tools(ask=critic, run=None, session=None, user=NoUser(), rng=random.Random(0))


def attempt(number: int = 1, *, code: str = "    return n + 0\n", score: float = 0.5, **more) -> Attempt:
    total = 10
    results = [CaseResult(id=f"test_m.py::p{n}", outcome="passed") for n in range(int(score * total))]
    results += [CaseResult(id="test_m.py::test_one", outcome="failed", failure=FAILURE)] * (total - len(results))
    made = Attempt(
        number=number,
        parent=0 if number else None,
        candidate=Candidate(texts={REGION: f"def f(n):\n{code}"}) if number else None,
        verdict=Verdict(status=Status.FAILED, cases=tuple(results)),
        error_class="AssertionError",
        group=ErrorGroup.LOGIC,
    )
    return replace(made, **more)


BASELINE = attempt(0)


async def test_explanation_first_then_the_fix():
    critic = Critic(["It returns n\ninstead of twice n."])
    note = await explain.describe(PROBLEM, [BASELINE, attempt()], tools(critic))
    assert critic.asked[0].role is Role.CRITIC
    assert "return n + 0" in critic.prompt
    assert FAILING in critic.prompt
    assert FAILING in note.text
    assert note.text.endswith("Why it fails: It returns n instead of twice n.")
    assert note.fields["explanation"] == "It returns n instead of twice n."
    assert note.usage == COST


@pytest.mark.parametrize("part", ASKING)
async def test_the_users_own_code_is_described_without_a_model(part):
    note = await part.describe(PROBLEM, [BASELINE], tools(Critic([])))
    assert "assert f(1) == 2" in note.text
    assert note.usage == Usage()


@pytest.mark.parametrize("part", [*ASKING, raw, cases])
@pytest.mark.parametrize("name", sorted(ADVICE))
async def test_each_refusal_has_its_own_sentence_and_asks_no_model(part, name):
    finding = Finding(error_class=name, message="Something is wrong.", line=3)
    refused = attempt(candidate=None, verdict=Verdict(status=Status.REFUSED), finding=finding)
    note = await part.describe(PROBLEM, [BASELINE, refused], tools(Critic([])))
    assert note.text == rejection_sentence(finding)
    assert ADVICE[name] in note.text
    assert "Something is wrong. (line 3)" in note.text


def test_every_refusal_there_is_has_advice():
    named = {
        parse_answer.EMPTY,
        parse_answer.NO_CODE,
        parse_answer.TRUNCATED,
        parse_answer.WRONG,
        search_replace.SEARCH_NOT_FOUND,
        gate.UNCHANGED,
        gate.UNDEFINED,
        gate.ENCODING,
        signature.SIGNATURE,
        signature.DELETED,
        attempt_steps.REPEATED,
        infill.NO_LINE,
        repetition.REPETITION,
    }
    assert named | {"SyntaxError", "IndentationError", "TabError"} == set(ADVICE)


def test_refusals_differ_and_name_pythons_own_errors():
    texts = {rejection_sentence(Finding(error_class=name, message="M.")) for name in ADVICE}
    assert len(texts) == len(ADVICE)
    error = Finding(error_class="SyntaxError", message="invalid syntax in line 3: retrun n", line=3)
    assert rejection_sentence(error) == (
        "The code was not run: SyntaxError: invalid syntax in line 3: retrun n. Write valid Python."
    )
    other = Finding(error_class="NoGain", message="None of 9 one-token changes passes more tests.")
    assert rejection_sentence(other) == "The code was not run: None of 9 one-token changes passes more tests."


@pytest.mark.parametrize("part", [raw, cases])
@pytest.mark.parametrize(
    ("code", "name"), [("    return n + 0\n", "Repeated"), ("    return n  # as it was\n", "Unchanged")]
)
async def test_code_that_was_run_before_keeps_its_failures(part, code, name):
    finding = Finding(error_class=name, message="It repeats.")
    twin = attempt(2, code=code, verdict=Verdict(status=Status.REFUSED), finding=finding)
    note = await part.describe(PROBLEM, [BASELINE, attempt(), twin], tools(Critic([])))
    assert note.text.startswith(rejection_sentence(finding))
    assert "assert f(1) == 2" in note.text


async def test_reflections_are_kept_from_attempt_to_attempt():
    critic = Critic(["I forgot to double.", "I doubled the wrong name."])
    first = attempt(1)
    first = replace(first, notes=(await reflect.describe(PROBLEM, [BASELINE, first], tools(critic)),))
    note = await reflect.describe(PROBLEM, [BASELINE, first, attempt(2)], tools(critic))
    assert note.text.endswith("- I forgot to double.\n- I doubled the wrong name.")
    assert note.fields["reflection"] == "I doubled the wrong name."


async def test_only_the_newest_reflections_are_shown():
    old = [attempt(n, notes=(FeedbackNote(text="", fields={"reflection": f"number {n}"}),)) for n in range(1, 9)]
    note = await reflect.describe(PROBLEM, [BASELINE, *old, attempt(9)], tools(Critic(["newest"])))
    assert [row for row in note.text.split("\n") if row.startswith("- ")] == ["- number 7", "- number 8", "- newest"]


async def test_a_summary_has_a_bounded_number_of_sentences():
    critic = Critic(["One. Two is 1.5 not 2. Three! Four? Five."])
    note = await summary.describe(PROBLEM, [BASELINE, attempt()], tools(critic))
    assert note.text == "One. Two is 1.5 not 2. Three!"
    assert FAILING in critic.prompt
    assert "at most 3 sentences" in critic.prompt
    assert note.usage == COST


@pytest.mark.parametrize("answer", [ModelError("unreachable"), "", "```\n```"])
async def test_a_summary_without_a_model_is_put_together_from_the_cases(answer):
    note = await summary.describe(PROBLEM, [BASELINE, attempt()], tools(Critic([answer])))
    assert note.text == f"5 of 10 tests fail. {' '.join(FAILING.split())}. {' '.join(FAILING.split())}."
    assert note.fields["by"] == "template"


async def test_the_raw_output_stays_in_the_verdict_beside_a_summary():
    newest = attempt()
    note = await summary.describe(PROBLEM, [BASELINE, newest], tools(Critic(["It fails."])))
    assert note.text == "It fails."
    assert newest.verdict.cases[-1].failure.text == FAILURE.text


CRITIQUE = """\
**bug_type**: Misunderstanding and Logic Error
location: line 2, `return n + 0`
cause: It adds nothing.
change: Return 2 * n.
"""


async def test_a_critique_has_fixed_fields():
    critic = Critic([CRITIQUE])
    note = await bug_taxonomy.describe(PROBLEM, [BASELINE, attempt()], tools(critic))
    assert {name: note.fields[name] for name in bug_taxonomy.FIELDS} == {
        "bug_type": "misunderstanding and logic error",
        "location": "line 2, `return n + 0`",
        "cause": "It adds nothing.",
        "change": "Return 2 * n.",
    }
    assert "Cause: It adds nothing.\nChange: Return 2 * n." in note.text
    assert FAILING in note.text
    assert all(name in critic.prompt for names in bug_taxonomy.TYPES.values() for name in names)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The code is wrong.",
        CRITIQUE.replace("cause", "reason"),
        CRITIQUE.replace("Misunderstanding and Logic", "Bad"),
    ],
)
async def test_a_critique_that_cannot_be_read_gives_the_runners_words_and_says_so(answer):
    newest = attempt()
    note = await bug_taxonomy.describe(PROBLEM, [BASELINE, newest], tools(Critic([answer])))
    assert note.text == (await raw.describe(PROBLEM, [BASELINE, newest], None)).text
    assert note.fields["unparsable"] == " ".join(answer.split())
    assert note.usage == COST


@pytest.mark.parametrize(
    ("error", "group", "label"),
    [
        ("SyntaxError", ErrorGroup.SYNTAX, "incomplete syntax structure"),
        ("NameError", ErrorGroup.RUNTIME, "definition missing"),
        ("AssertionError", ErrorGroup.LOGIC, "misunderstanding and logic error"),
        ("Timeout", ErrorGroup.TIMEOUT, "timeout or other exception"),
    ],
)
async def test_each_failed_attempt_gets_a_label_of_the_taxonomy(error, group, label):
    newest = attempt(error_class=error, group=group)
    note = await bug_taxonomy.describe(PROBLEM, [BASELINE, newest], tools(Critic(["?"])))
    assert note.fields["label"] == label
    assert sum(label in names for names in bug_taxonomy.TYPES.values()) == 1


async def test_generic_feedback_says_nothing_of_the_error_and_specific_feedback_does():
    attempts = [BASELINE, attempt()]
    note = await generic.describe(PROBLEM, attempts, None)
    assert note.text.startswith(
        "There might be an error in the code above because of lack of understanding of the question."
    )
    assert "assert" not in note.text
    assert FAILING in (await cases.describe(PROBLEM, attempts, None)).text


async def test_self_critique_never_sees_the_tests_outcome():
    critic = Critic(["It may be wrong.\nconfidence: 0.8"] * 3)
    good = Verdict(status=Status.PASSED, cases=(CaseResult(id="test_m.py::test_one", outcome="passed"),))
    for newest in (
        attempt(),
        attempt(verdict=good, error_class="", group=None),
        attempt(verdict=Verdict(status=Status.TIMEOUT, reason="it did not end"), error_class="Timeout"),
    ):
        note = await self_critique.describe(PROBLEM, [BASELINE, newest], tools(critic))
        assert note.fields["confidence"] == 0.8
        assert note.usage == COST
    assert critic.asked[0] == critic.asked[1] == critic.asked[2]
    assert "Return twice the number." in critic.prompt
    assert "return n + 0" in critic.prompt


async def test_the_best_attempt_so_far_is_shown_beside_the_newest():
    second = attempt(2, code="    return n + 9\n", score=0.9, notes=(FeedbackNote(text="off by one"),))
    attempts = [BASELINE, attempt(1, score=0.5), second, attempt(3, score=0.2)]
    note = await best.describe(PROBLEM, attempts, None)
    assert note.text.startswith("Best so far: score 0.9 (9 of 10 tests passed), by:\n")
    assert "return n + 9" in note.text
    assert note.text.endswith("off by one")
    assert note.score == 0.9


async def test_the_best_attempts_own_note_shows_its_score():
    note = await best.describe(PROBLEM, [BASELINE, attempt(1), attempt(2, score=0.9)], None)
    assert note.text == "Best so far: score 0.9 (9 of 10 tests passed), by this code."


@pytest.mark.parametrize("part", [*ASKING, self_critique])
async def test_an_exhausted_budget_passes_through(part):
    with pytest.raises(BudgetExceededError):
        await part.describe(PROBLEM, [BASELINE, attempt()], tools(Critic([BudgetExceededError(StopReason.TOKENS)])))


@pytest.mark.parametrize("part", [*ASKING, self_critique, best, raw, cases])
async def test_huge_code_failures_and_answers_are_bounded(part):
    huge = "x" * 10_000_000
    code = "    y = 1\n" * 3_000 + "    return n\n"
    failure = replace(FAILURE, text=huge, message=huge, expected=huge, observed=huge)
    result = CaseResult(id="test_m.py::test_one", outcome="failed", failure=failure)
    verdict = Verdict(status=Status.FAILED, cases=(result,) * 30, reason=huge)
    old = attempt(1, notes=(FeedbackNote(text=huge),), verdict=verdict)
    critic = Critic([huge])
    note = await part.describe(PROBLEM, [BASELINE, old, attempt(2, code=code, verdict=verdict)], tools(critic))
    assert len(note.text) < 150_000
    assert all(len(message.content) < 12_000 for asked in critic.asked for message in asked.messages)


def test_what_asking_cost_is_the_attempts():
    newest = attempt(
        usage=Usage(prompt_tokens=10, cost=0.02), notes=(FeedbackNote(text="", usage=COST), FeedbackNote(text=""))
    )
    assert newest.spent == Usage(prompt_tokens=80, completion_tokens=30, cost=0.03)


async def test_the_best_score_and_its_diagnosis_are_in_the_prompt_after_a_better_attempt():
    """Scores 0.5, 0.9, 0.2: the result is attempt 2, and what is asked for attempts 3 and 4 shows its score."""
    scores, prompts = [0.5, 0.9, 0.2, 0.1], []
    replies = [f"```python\ndef f(n):\n    return n + {n}\n```" for n in range(2, 6)]
    texts = templates.preset_templates("plain")

    def prompt(problem, draft, attempts) -> ChatRequest:
        prompts.append(assemble(texts, problem, [], attempts, draft, budget=2600, count=len))
        return ChatRequest(messages=prompts[-1], role=draft.role)

    async def ask(_request, _on_token) -> Reply:
        return Reply(text=replies.pop(0), usage=COST, model="scripted")

    async def verify(_files) -> Verdict:
        return attempt(score=scores.pop(0)).verdict

    async def describe(problem, attempts):
        return tuple([await part.describe(problem, attempts, None) for part in (cases, best)])

    parts = loop.Parts(
        plan=chain.plan,
        assemble=prompt,
        ask=ask,
        verify=verify,
        glance=verify,
        accept=verify,
        describe=describe,
        model_of=lambda _draft: "scripted",
        count=len,
    )
    started = Started(problem=PROBLEM, baseline=BASELINE, model="m", preset="plain", sandbox="test", attempts=4)
    state = RunState(problem=PROBLEM, ledger=Ledger(Budget(attempts=4)))
    outcome = await loop.refine(state, started, parts, lambda _event: None)
    assert outcome.best == 2
    for number in (3, 4):
        asked = "\n".join(message.content for message in prompts[number - 1])
        assert "Best so far: score 0.9 (9 of 10 tests passed)" in asked
        assert "return n + 3" in asked
        assert FAILING in asked
