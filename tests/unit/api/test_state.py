"""What is known of a run, by its events."""

from __future__ import annotations

from conversation_attempts import LOOKS
from fake_engine import FakeEngine, attempt, solved
from greenloop.api.state import SessionState
from greenloop.core.events import Checked, Finished, Looked, Planned, Proposed, Specified, Token
from greenloop.core.records.model import Usage
from greenloop.core.records.spec import Spec


def planned(number: int) -> Planned:
    return Planned(attempt=number, draft=attempt(1).draft, model="local", prompt_tokens=660)


def test_each_event_says_what_happens_next(tmp_path):
    clock = iter(range(100, 200))
    state = SessionState(clock=lambda: next(clock))
    steps = []
    for event in (
        *FakeEngine(tmp_path).events(solved(tmp_path).attempts)[:1],
        planned(1),
        Looked(attempt=1, look=LOOKS[0]),
        Token(attempt=1, text="d", count=84),
        Proposed(attempt=1, answer="", usage=Usage()),
        Checked(attempt=1, error_class="", message=""),
        Checked(attempt=1, error_class="SyntaxError", message="it cannot be read"),
        Finished(outcome=solved(tmp_path)),
    ):
        state.record(event)
        steps.append(state.status)
    assert steps == [
        "",
        "",
        "looking: read m.py",
        "writing, 84 tokens",
        "reading the answer",
        "testing",
        "it cannot be read",
        "finishing",
    ]
    assert state.outcome == solved(tmp_path)
    assert state.looks_by_attempt == {1: [LOOKS[0]]}


def test_the_problem_has_the_newest_tests(tmp_path):
    state = SessionState()
    assert (state.problem, state.spec, state.limit, state.number) == (None, None, 0, 1)
    state.record(FakeEngine(tmp_path).events(solved(tmp_path).attempts)[0])
    state.record(Specified(spec=Spec(cases=(), selectors=("other",))))
    assert state.problem.spec.selectors == state.spec.selectors == ("other",)
