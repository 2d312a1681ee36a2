"""Several tests of a file are red: a result that mends only the target waits for one that mends the others."""

from __future__ import annotations

import json

import pytest

from greenloop.core.events import Tested
from greenloop.core.records.attempt import Move
from greenloop.engine import refine
from greenloop.project import configuration
from greenloop.wording.attempt import attempt_result

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

SQUARE = "def square(x):\n    return x + 5\n"
TESTS = """
from m import square


def test_three():
    assert square(3) == 9


def test_four():
    assert square(4) == 16
"""


@pytest.fixture
def play(tmp_path, monkeypatch, lay):
    """`play(*answers, code=SQUARE)`: (outcome, the tested attempts)."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(*answers, code=SQUARE):
        root = lay(tmp_path / "w", {"m.py": code, "test_m.py": TESTS})
        script = tmp_path / "answers.jsonl"
        script.write_text("".join(json.dumps(f"```python\n{answer}```\n") + "\n" for answer in answers))
        line = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap"}
        settings, _ = configuration.load(root, command_line=line)
        events: list = []
        request = refine.RefineRequest(root=root, target="test_m.py::test_three", buffers={})
        outcome = await refine.refine(request, settings=settings, emit=events.append)
        return outcome, [event.attempt for event in events if isinstance(event, Tested)]

    return run


async def test_an_answer_that_mends_the_others_too_is_taken(play):
    outcome, tested = await play(*["def square(x):\n    return x * x\n"] * 2)  # the first one fills a hole
    assert outcome.solved
    assert "x * x" in outcome.after["m.py"]
    assert tested[0].draft.move is Move.MUTATE
    assert attempt_result(tested[0]) == "passed; 1 more still fail"


async def test_without_any_answer_it_is_taken_after_all(play):
    outcome, _tested = await play()
    assert outcome.solved


async def test_without_such_an_answer_it_is_taken_after_all(play):
    wrong = [f"def square(x):\n    return x - {number}\n" for number in range(40)]
    outcome, _tested = await play(*wrong)
    assert outcome.solved
    assert "x + 6" in outcome.after["m.py"] or "x + 5 + 1" in outcome.after["m.py"]
    assert [each.draft.move for each in outcome.attempts[1:]] == [Move.MUTATE, Move.INFILL, Move.DRAFT]


STUB = 'def square(x):\n    """x times x."""\n    raise NotImplementedError\n'


def returns(expression):
    return f"def square(x):\n    return {expression}\n"


async def test_a_new_function_that_passes_the_other_test_too_is_taken(play):
    outcome, _tested = await play(returns("x * 3"), returns("x + 7"), returns("x * x"), code=STUB)
    assert outcome.solved
    assert "x * x" in outcome.after["m.py"]


async def test_a_new_function_that_leaves_the_other_test_red_waits_for_four_more_answers(play):
    wrong = [returns(f"x - {number}") for number in range(9)]
    outcome, tested = await play(returns("x * 3"), *wrong, code=STUB)
    assert outcome.solved
    assert "x * 3" in outcome.after["m.py"]
    assert max(each.number for each in tested) == 5
