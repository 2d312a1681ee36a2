"""The best attempt so far, beside the newest."""

from __future__ import annotations

from critic import COST
from critique import BASELINE, FAILING, PROBLEM, attempt
from greenloop.core.budget import Ledger
from greenloop.core.events import Started
from greenloop.core.records.attempt import FeedbackNote
from greenloop.core.records.model import Budget, ChatRequest, Reply
from greenloop.core.records.verdict import Verdict
from greenloop.core.run_state import RunState
from greenloop.drafting.feedback import cases
from greenloop.drafting.prompt import assemble
from greenloop.drafting.search import chain
from greenloop.engine.loop import loop
from greenloop.engine.loop.parts import Parts
from greenloop.project import templates
from greenloop_lab.drafting.feedback import best


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

    parts = Parts(
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
