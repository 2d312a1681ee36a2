"""Each preset by a scripted model: who is asked, for which move, from which attempt, in which order."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from dataclasses import replace

import pytest

from double_problem import HALF, PROBLEM, RIGHT, STUB, WRONG, failing_verdict, judge_files, make_answer
from greenloop.core import registry
from greenloop.core.budget import Ledger
from greenloop.core.errors import SettingsError
from greenloop.core.events import Planned, Started
from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import Budget, ChatRequest, Reply, Role, Usage
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.problem import Excerpt
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.drafting.prompt import assemble
from greenloop.engine.feedback import Feedback
from greenloop.engine.loop import loop
from greenloop.engine.loop.parts import Parts
from greenloop.engine.presets import find_preset, load_presets
from greenloop.project import templates
from greenloop.project.settings import Settings
from greenloop_sandbox import Execution

OTHER_HALF = "x + 5"  # right for 5 alone
SOURCE = Excerpt(title="Source:", text=STUB, value=1.0, own=True)


class Play:
    """A preset on a stage: its real parts and prompts, a model that answers by role, nothing run in a sandbox."""

    def __init__(self, preset: str, answers: list[str], said: dict[str, list[str]], skip: tuple[str, ...] = ()) -> None:
        self.skip = skip
        self.preset = find_preset(preset, harness=True)
        self.answers = list(answers)
        self.said = {role: list(texts) for role, texts in said.items()}
        self.calls: list[str] = []
        self.prompts: list[ChatRequest] = []
        self.questions: list[ChatRequest] = []
        self.templates = templates.preset_templates(self.preset.prompt)

    async def ask(self, completion: ChatRequest, on_token) -> Reply:
        self.prompts.append(completion)
        return Reply(text=make_answer(self.answers.pop(0)), usage=Usage(completion_tokens=10), model="scripted")

    async def question(self, completion: ChatRequest) -> Reply:
        self.questions.append(completion)
        self.calls.append(f"{completion.role} asked")
        said = self.said.get(completion.role, [])
        return Reply(text=said.pop(0) if said else "- think", usage=Usage(completion_tokens=5), model="scripted")

    async def watched(self, attempt, selectors, lines) -> Execution:
        """A step onto the last of the watched lines."""
        if not lines:
            return Execution(status=1)
        step = [0, lines[0].end, 1, {"x": "3"}]
        record = {"kind": "watch", "id": selectors[0], "files": [lines[0].path], "hits": [], "steps": [step]}
        return Execution(status=1, records=(record,))

    async def verify(self, files) -> Verdict:
        return Verdict(status=Status.FAILED) if self.preset.blind else judge_files(files)

    async def describe(self, problem, attempts):
        tools = Tools(
            ask=self.question,
            run=self.watched,
            session=None,
            user=NoUser(),
            rng=random.Random(0),
            options={"planner.skip": self.skip},
        )
        feedback = Feedback(settings=Settings(), preset=self.preset, tools=tools)
        return await feedback.describe(problem, attempts)

    def assemble(self, problem, draft, attempts) -> ChatRequest:
        messages = assemble(
            self.templates, problem, [SOURCE], attempts, draft, budget=2600, count=lambda text: len(text) // 4
        )
        return ChatRequest(messages=messages, role=draft.role, temperature=draft.temperature)

    def emit(self, event) -> None:
        if isinstance(event, Planned):
            draft = event.draft
            move = f"{draft.move}/{draft.prompt}" if draft.prompt else f"{draft.move}"
            self.calls.append(f"{draft.role} {move} of {draft.parent}")

    async def run(self, attempts: int | None = None, problem=PROBLEM):
        baseline = Attempt(
            number=0, verdict=failing_verdict(), error_class="NotImplementedError", group=ErrorGroup.RUNTIME
        )
        notes = await self.describe(problem, [baseline])
        baseline = Attempt(
            number=0,
            verdict=failing_verdict(),
            error_class="NotImplementedError",
            group=ErrorGroup.RUNTIME,
            notes=notes,
        )
        parts = Parts(
            plan=registry.load_part("search", self.preset.search).plan,
            assemble=self.assemble,
            ask=self.ask,
            verify=self.verify,
            glance=self.verify,
            accept=self.verify,
            describe=self.describe,
            model_of=lambda draft: "scripted",
            count=len,
            stops_copies=not self.preset.corrects_drafts,
        )
        started = Started(
            problem=problem, baseline=baseline, model="scripted", preset=self.preset.name, sandbox="none", attempts=5
        )
        budget = Budget(attempts=attempts or self.preset.attempts, tokens=10**9)
        return await loop.refine(RunState(problem=problem, ledger=Ledger(budget)), started, parts, self.emit)


PLAN = "1. result holds x\n2. result holds twice x\n3. return result"

# preset, answers, what critic and planner say, the calls, how it ends
TABLE = [
    (
        "improve",
        [*WRONG[:2], RIGHT],
        {},
        ["drafter draft of 0", "refiner refine of 1", "refiner refine of 2"],
        StopReason.SOLVED,
    ),
    (
        "improve-planned",
        [*WRONG[:3], RIGHT],
        {"planner": ["1. sort, O(n log n)\n2. a table, O(n)\n3. doubling, O(1)"]},
        ["planner asked", *["drafter draft/algorithm of 0"] * 3, "refiner refine of 3"],
        StopReason.SOLVED,
    ),
    (
        "improve-planned",
        [RIGHT],
        {"planner": ["I do not know."]},
        ["planner asked", "drafter draft of 0"],
        StopReason.SOLVED,
    ),
    (
        "plain",
        [*WRONG[:2], RIGHT],
        {},
        ["drafter draft of 0", "refiner refine of 1", "refiner refine of 2"],
        StopReason.SOLVED,
    ),
    (
        "plain",
        WRONG[:5],
        {},
        ["drafter draft of 0", *(f"refiner refine of {n}" for n in (1, 2, 3, 4))],
        StopReason.ATTEMPTS,
    ),
    (
        "agentcoder",
        [WRONG[0], RIGHT],
        {},
        ["drafter draft of 0", "refiner refine of 1"],
        StopReason.SOLVED,
    ),
    (
        "conair",
        WRONG[:9],
        {},
        [*["drafter draft of 0"] * 5, *["drafter restart of 0"] * 4],
        StopReason.STALLED,
    ),
    (
        "default",
        [WRONG[0], *WRONG[1:4], RIGHT],
        {},
        ["drafter draft of 0"] * 5,
        StopReason.SOLVED,
    ),
    (
        "best-of-n",
        [*WRONG[:6], RIGHT, WRONG[7]],
        {},
        ["drafter draft of 0"] * 8,
        StopReason.SOLVED,
    ),
    (
        "best-of-n",
        WRONG[:8],
        {},
        ["drafter draft of 0"] * 8,
        StopReason.ATTEMPTS,
    ),
    (
        "properties",
        [WRONG[0], RIGHT],
        {},
        ["drafter draft of 0", "refiner refine of 1"],
        StopReason.SOLVED,
    ),
    (
        "reflexion",
        [*WRONG[:2], RIGHT],
        {"critic": ["I forgot to multiply.", "I added again."]},
        ["drafter draft of 0", "critic asked", "refiner refine of 1", "critic asked", "refiner refine of 2"],
        StopReason.SOLVED,
    ),
    (
        "self-debug",
        [HALF, WRONG[0], RIGHT],
        {"critic": ["It adds two.", "It adds one."]},
        ["drafter draft of 0", "critic asked", "refiner refine of 1", "critic asked", "refiner refine of 1"],
        StopReason.SOLVED,
    ),
    (
        "self-debug",
        [HALF, *WRONG[:2]],
        {},
        ["drafter draft of 0", "critic asked"] + ["refiner refine of 1", "critic asked"] * 2,
        StopReason.STALLED,
    ),
    (
        "ldb",
        [*WRONG[:2], RIGHT],
        {"critic": ['{"block": 1, "correct": false, "explanation": "it adds"}'] * 2},
        ["drafter draft of 0", "critic asked", "refiner refine of 1", "critic asked", "refiner refine of 2"],
        StopReason.SOLVED,
    ),
    (
        "tenet",
        [WRONG[0], "(x + 1)", RIGHT],
        {},
        ["drafter draft of 0", "critic asked", "refiner refine of 1", "drafter restart of 0"],
        StopReason.SOLVED,
    ),
    (
        "tenet",
        [WRONG[0], "x + 2 - 1", RIGHT],
        {},
        [
            "drafter draft of 0",
            "critic asked",
            "refiner refine of 1",
            "critic asked",
            "drafter restart of 0",
        ],
        StopReason.SOLVED,
    ),
    (
        "iad",
        [WRONG[0], HALF, WRONG[1], RIGHT, WRONG[2], WRONG[3]],
        {},
        ["drafter draft of 0"] * 3 + ["refiner refine/compare of 2"] * 3,
        StopReason.SOLVED,
    ),
    (
        "iad",
        WRONG[:9],
        {},
        ["drafter draft of 0"] * 3 + ["refiner refine of 1"] * 6,
        StopReason.STALLED,
    ),
    (
        "codetree",
        [WRONG[0], HALF, RIGHT],
        {
            "planner": ["- add\n- multiply"],
            "critic": ["score: 2\ndecision: go on\n- add twice", "score: 4\ndecision: promising\n- times two"],
        },
        [
            "planner asked",
            "drafter draft/strategy of 0",
            "critic asked",
            "refiner refine/reflection of 1",
            "critic asked",
            "refiner refine/reflection of 2",
        ],
        StopReason.SOLVED,
    ),
    (
        "codetree",
        [*WRONG[:2], RIGHT],
        {
            "planner": ["1. add\n2. multiply"],
            "critic": ["score: 3\ndecision: go on\n- add twice", "score: 3\ndecision: give up"],
        },
        [
            "planner asked",
            "drafter draft/strategy of 0",
            "critic asked",
            "refiner refine/reflection of 1",
            "critic asked",
            "drafter draft/strategy of 0",
        ],
        StopReason.SOLVED,
    ),
    (
        "magicore",
        [*WRONG[:3], RIGHT],
        {},
        ["drafter draft of 0"] * 4,
        StopReason.SOLVED,
    ),
    (
        "magicore",
        [WRONG[0], HALF, *WRONG[1:4], RIGHT],
        {"critic": ["line 3 must multiply"]},
        ["drafter draft of 0"] * 4 + ["critic asked"] + ["refiner refine/reviewed of 2"] * 2,
        StopReason.SOLVED,
    ),
    (
        "codesim",
        [WRONG[0], RIGHT],
        {"planner": [PLAN, "verdict: right"], "critic": ["The code adds."]},
        ["planner asked"] * 2 + ["drafter draft/planned of 0", "critic asked", "refiner refine/refine_planned of 1"],
        StopReason.SOLVED,
    ),
    (
        "codesim",
        [RIGHT],
        {"planner": [PLAN, "verdict: wrong, because 5 gives 7", "1. multiply x by two"]},
        ["planner asked"] * 3 + ["drafter draft/planned of 0"],
        StopReason.SOLVED,
    ),
    (
        "codesim",
        [WRONG[0], RIGHT],
        {"planner": ["I do not know."]},
        ["planner asked", "drafter draft of 0", "critic asked", "refiner refine of 1"],
        StopReason.SOLVED,
    ),
    (
        "lpw",
        [WRONG[0], RIGHT],
        {"planner": [PLAN, "Test 1:\nresult = 10\nreturn = 10\nTest 2:\nreturn = 4"]},
        ["planner asked"] * 2 + ["drafter draft/planned of 0", "refiner refine/refine_planned of 1"],
        StopReason.SOLVED,
    ),
    (
        "lpw",
        [RIGHT],
        {"planner": [PLAN, "Test 1:\nreturn = 7", "Test 1:\nreturn = 10"]},
        ["planner asked"] * 3 + ["drafter draft/planned of 0"],
        StopReason.SOLVED,
    ),
    (
        "slpw",
        [WRONG[0], "(x + 1)", RIGHT],
        {"planner": [PLAN, "Test 1:\nreturn = 10", "- add x to x", "Test 1: return 10", "- shift x", "return 10"]},
        ["planner asked"] * 6
        + ["drafter draft/planned of 0", "refiner refine/refine_planned of 1", "drafter draft/planned of 0"],
        StopReason.SOLVED,
    ),
    (
        "lifecycle",
        [WRONG[0], RIGHT],
        {"planner": ["1. takes a number", "1. one state", "result = x\nresult = twice\nreturn result"]},
        ["planner asked"] * 3 + ["drafter draft/planned of 0", "critic asked", "refiner refine/refine_planned of 1"],
        StopReason.SOLVED,
    ),
    (
        "self-modules",
        [WRONG[0], RIGHT],
        {"planner": ["1. read x", "1. add x to x", "1. multiply x by two"]},
        ["planner asked"] * 3 + ["drafter draft/planned of 0", "refiner refine/refine_planned of 1"],
        StopReason.SOLVED,
    ),
    ("one-call", [WRONG[0], RIGHT], {}, ["drafter draft of 0", "refiner refine of 1"], StopReason.SOLVED),
    (
        "curriculum",
        [HALF, WRONG[1], RIGHT],
        {},
        ["drafter draft of 0", "refiner refine of 1", "refiner refine of 1"],
        StopReason.SOLVED,
    ),
    (
        "merge",
        [HALF, OTHER_HALF, *WRONG[:2], RIGHT],
        {},
        ["drafter draft of 0"] * 4 + ["refiner refine/merge of 1"],
        StopReason.SOLVED,
    ),
    (
        "merge",
        [*WRONG[:4], RIGHT],
        {},
        ["drafter draft of 0"] * 4 + ["refiner refine of 4"],
        StopReason.SOLVED,
    ),
    (
        "anchor",
        [WRONG[0], HALF, *WRONG[1:4], RIGHT],
        {},
        ["drafter draft of 0"] * 4 + ["refiner refine/anchor of 2", "refiner refine/anchor of 5"],
        StopReason.SOLVED,
    ),
    (
        "self-critique",
        [RIGHT, *WRONG[:4]],
        {"critic": ["- it must add"] * 5},
        [
            "drafter draft of 0",
            *(word for n in (1, 2, 3, 4) for word in ("critic asked", f"refiner refine of {n}")),
            "critic asked",
        ],
        StopReason.ATTEMPTS,
    ),
    (
        "self-critique",
        [RIGHT],
        {"critic": ["CORRECT\nconfidence: 0.9"]},
        ["drafter draft of 0", "critic asked"],
        StopReason.STALLED,
    ),
]


@pytest.mark.parametrize(
    ("preset", "answers", "said", "calls", "reason"), TABLE, ids=[f"{row[0]}-{row[-1]}" for row in TABLE]
)
async def test_who_is_asked_for_what(preset, answers, said, calls, reason):
    play = Play(preset, answers, said)
    outcome = await play.run()
    assert play.calls == calls
    assert outcome.reason is reason
    assert play.answers == []


def test_every_preset_is_in_the_table():
    assert {row[0] for row in TABLE} == set(load_presets())


async def test_magicore_asks_no_reviewer_for_an_easy_task():
    play = Play("magicore", [*WRONG[:3], RIGHT], {})
    await play.run()
    assert play.questions == []
    assert len({prompt.temperature for prompt in play.prompts}) == 4


async def test_iad_shows_the_best_as_the_answer_and_the_worst_beside_it():
    play = Play("iad", [WRONG[0], HALF, WRONG[1], RIGHT, WRONG[2], WRONG[3]], {})
    await play.run()
    _system, _task, parent, told = play.prompts[3].messages
    assert HALF in parent.content
    assert "0 of 2 tests passed" in told.content
    assert WRONG[0] in told.content


async def test_a_merge_prompt_has_both_candidates_and_what_each_passes():
    """Row #21: two candidates that pass disjoint halves of the tests."""
    play = Play("merge", [HALF, OTHER_HALF, *WRONG[:2], RIGHT], {})
    await play.run()
    _system, _task, parent, told = play.prompts[4].messages
    assert HALF in parent.content
    assert "Your answer passes `test_two`." in told.content
    assert f"This passes `test_five`:\n{make_answer(OTHER_HALF)}" in told.content
    assert "Tests failed:\nassert double(5) == 10" in told.content


async def test_the_anchor_is_told_only_what_the_others_have_and_it_has_not():
    """Row #53: the best candidate is repaired with ideas of the others."""
    play = Play("anchor", [OTHER_HALF, HALF, *WRONG[:2], RIGHT], {})
    await play.run()
    _system, _task, parent, told = play.prompts[4].messages
    assert HALF in parent.content
    assert "It passes `test_two`" in told.content
    idea = f"Another answer, which passes `test_five`, has:\n```python\n    return {OTHER_HALF}\n```"
    assert idea in told.content
    assert told.content.count("def double") == 0


async def test_a_round_of_samples_has_four_temperatures():
    play = Play("best-of-n", WRONG[:8], {})
    await play.run()
    temperatures = [prompt.temperature for prompt in play.prompts]
    assert temperatures[:5] == [0.0, 0.6, 0.75, 0.9, 1.0]
    assert len({prompt.messages for prompt in play.prompts}) == 1


async def test_a_restart_names_the_failed_approaches_and_hides_the_failing_code():
    play = Play("tenet", [WRONG[0], "x + 2 - 1", RIGHT], {})
    await play.run()
    told = "\n".join(message.content for message in play.prompts[2].messages)
    assert re.search(r"^- attempts 1\D+2: AssertionError", told, re.MULTILINE)
    assert WRONG[0] not in told
    assert "x + 2 - 1" not in told


async def test_reflections_stay_from_attempt_to_attempt():
    play = Play("reflexion", [*WRONG[:2], RIGHT], {"critic": ["I forgot to multiply.", "I added again."]})
    await play.run()
    told = play.prompts[2].messages[-1].content
    assert "I forgot to multiply." in told
    assert "I added again." in told


async def test_a_trace_and_its_wrong_blocks_reach_the_model():
    play = Play("ldb", [WRONG[0], RIGHT], {"critic": ['{"block": 1, "correct": false, "explanation": "it adds"}']})
    await play.run()
    told = play.prompts[1].messages[-1].content
    assert "[BLOCK-1]\n# before: x=3\n" in told
    assert "[BLOCK-1] is wrong: it adds" in told


async def test_a_planners_algorithms_reach_the_model_with_a_pair_slow_and_fast():
    """Rows #19 and #45: what one model plans is in the prompt to another, with an example of such a change."""
    play = Play("improve-planned", [WRONG[0], RIGHT], {"planner": ["- a table, O(n)\n- doubling, O(1)"]})
    await play.run()
    (question,) = play.questions
    assert question.role is Role.PLANNER
    texts = [request.messages[-1].content for request in play.prompts]
    assert ["Do it this way: a table, O(n)" in texts[0], "Do it this way: doubling, O(1)" in texts[1]] == [True, True]
    for text in [question.messages[-1].content, *texts]:
        assert text.index("sums.append(a + b)") < text.index("seen.add(number)")


def told_by(request: ChatRequest) -> str:
    return request.messages[-1].content


async def test_a_simulated_plan_reaches_the_model_in_every_request():
    said = {"planner": [PLAN, "verdict: right"], "critic": ["The code adds."]}
    play = Play("codesim", [WRONG[0], RIGHT], said)
    await play.run()
    assert [PLAN in told_by(request) for request in play.prompts] == [True, True]
    assert "Followed by hand: The code adds." in told_by(play.prompts[1])


async def test_the_first_divergence_from_the_plan_reaches_the_model():
    said = {"planner": ["1. result holds twice x", "Test 1:\nx = 5\nreturn = 10\nTest 2:\nx = 2"]}
    play = Play("lpw", [WRONG[0], RIGHT], said)
    outcome = await play.run()
    assert "Expected values:\nassert double(5) == 10\n    x = 5\n" in told_by(play.prompts[0])
    assert "the code first leaves the plan at line 3 of m.py, `return x + 1`" in told_by(play.prompts[1])
    assert outcome.attempts[1].notes[-1].fields["divergence"]["observed"] == "3"


async def test_slpw_goes_on_to_the_next_plan():
    said = {"planner": [PLAN, "Test 1: return = 10", "- add x to x", "Test 1: return = 10", "- shift x", "no"]}
    play = Play("slpw", [WRONG[0], "(x + 1)", RIGHT], said)
    outcome = await play.run()
    assert [attempt.draft.label for attempt in outcome.attempts[1:]] == ["plan 1", "", "plan 2"]
    assert "1. add x to x" in told_by(play.prompts[2])
    assert PLAN not in told_by(play.prompts[2])


@pytest.mark.parametrize(
    ("preset", "skip", "asked"),
    [
        ("codesim", ("simulation",), {"planner": 1, "critic": 1}),
        ("codesim", ("debugging",), {"planner": 2}),
        ("lpw", ("verification",), {"planner": 1}),
        ("lifecycle", ("design", "review"), {"planner": 2}),
        ("self-modules", ("refinement",), {"planner": 2}),
        ("self-modules", ("modules", "plan", "refinement"), {}),
    ],
)
async def test_a_stage_that_is_left_out_is_not_asked_about(preset, skip, asked):
    said = {"planner": [PLAN, "verdict: right"]}
    play = Play(preset, [WRONG[0], RIGHT], said, skip)
    outcome = await play.run()
    assert outcome.reason is StopReason.SOLVED
    assert Counter(str(question.role) for question in play.questions) == asked


async def test_one_call_takes_the_correction_and_keeps_the_reflection():
    play = Play("one-call", [], {})
    play.answers = [f"x + 1\n```\nReflection: It adds one.\n```python\ndef double(x):\n    return {RIGHT}"]
    outcome = await play.run()
    assert outcome.reason is StopReason.SOLVED
    assert RIGHT in next(iter(outcome.attempts[1].candidate.texts.values()))
    assert outcome.attempts[1].notes[-1].fields["reflection"] == "It adds one."
    assert "Reflection:" in told_by(play.prompts[0])


async def test_the_easiest_test_is_asked_for_first():
    play = Play("curriculum", [HALF, WRONG[1], RIGHT], {})
    await play.run()
    assert "First make this one pass:\nassert double(5) == 10" in told_by(play.prompts[1])


async def test_a_strategy_and_a_reflection_reach_the_model():
    play = Play("codetree", [WRONG[0], RIGHT], {"planner": ["- multiply by two"], "critic": ["- use a product"]})
    await play.run()
    assert "multiply by two" in play.prompts[0].messages[-1].content
    assert "use a product" in play.prompts[1].messages[-1].content


async def test_the_tree_shares_one_budget():
    critic = "score: 5\ndecision: promising\n- more\n- less"
    expressions = [f"x + {n}" for n in range(20, 60)]
    play = Play("codetree", expressions, {"planner": ["- a\n- b\n- c"], "critic": [critic] * 40})
    outcome = await play.run(attempts=6)
    assert outcome.reason is StopReason.ATTEMPTS
    assert len(play.prompts) == 6
    assert find_preset("codetree").attempts == 20


async def test_self_critique_sees_nothing_that_was_executed():
    play = Play("self-critique", [RIGHT, *WRONG[:4]], {"critic": ["- it must add\nconfidence: 0.8"] * 5})
    outcome = await play.run()
    told = "\n".join(message.content for prompt in [*play.prompts, *play.questions] for message in prompt.messages)
    assert "assert" not in told
    assert "tests passed" not in told
    assert [attempt.confidence for attempt in outcome.attempts] == [None] + [0.8] * 5
    assert not outcome.solved


def test_blind_presets_are_for_the_harness_only():
    with pytest.raises(SettingsError, match="runs no tests; it is only for `greenloop bench`") as raised:
        find_preset("self-critique")
    assert "self-critique" not in raised.value.remedy
    with pytest.raises(SettingsError) as raised:
        find_preset("no-such")
    assert "self-critique" not in raised.value.remedy


async def test_a_draft_that_is_a_copy_is_corrected_further_down():
    """Only an answer that holds nothing else ends where it repeats the user's code."""
    written = STUB.replace("raise NotImplementedError", "return x")
    problem = replace(PROBLEM, files={**PROBLEM.files, "m.py": written}, originals={"m.py": written})
    answer = f"```python\n{written}```\nIt does nothing.\n{make_answer(RIGHT)}"

    async def ask(_request, on_token):
        for row in answer.split("\n"):
            on_token(f"{row}\n")
            await asyncio.sleep(0)
        return Reply(text=answer, usage=Usage(), model="scripted")

    error_classes = {}
    for name in ("plain", "one-call"):
        play = Play(name, [], {})
        play.ask = ask
        outcome = await play.run(1, problem)
        error_classes[name] = outcome.attempts[1].error_class
    assert error_classes == {"plain": "Unchanged", "one-call": ""}
