"""Two answers that pass different tests, put together without a model and proved in real sandboxes."""

from __future__ import annotations

import json

import pytest

from greenloop.core.records.attempt import Move
from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

STUB = '''def total(rows):
    """The sum of the even numbers; 0 where there are no rows."""
    raise NotImplementedError
'''
TESTS = """from m import total


def test_nothing():
    assert total(None) == 0


def test_even():
    assert total([1, 2, 4]) == 6
"""
GUARDED = """def total(rows):
    if rows is None:
        return 0
    result = 0
    for row in rows:
        result += row
    return result
"""
EVEN = """def total(rows):
    result = 0
    for row in rows:
        result += 0 if row % 2 else row
    return result
"""


def fenced(text: str) -> str:
    return f"```python\n{text}```"


@pytest.fixture
def solve(tmp_path, monkeypatch, lay):
    """`solve(answers, **settings)`: the outcome for both tests of the stub."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(answers, **more):
        root = lay(tmp_path / "w", {"m.py": STUB, "test_m.py": TESTS})
        script = tmp_path / "answers.jsonl"
        script.write_text("".join(json.dumps(fenced(each)) + "\n" for each in answers))
        line = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap", **more}
        settings, _ = configuration.load(root, command_line=line)
        request = refine.Request(root=root, target="test_m.py")
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


async def test_two_answers_about_one_function_are_merged_and_the_merge_is_verified(solve):
    outcome = await solve([GUARDED, EVEN, GUARDED, EVEN, GUARDED])
    assert outcome.solved, outcome.message
    assert outcome.verified is Verified.VERIFIED
    best = outcome.attempts[outcome.best]
    assert best.draft.move is Move.MERGE
    assert best.model == "combined answers"
    assert best.usage.tokens == 0
    assert [each.verdict.passed for each in outcome.attempts[1:3]] == [1, 1]
    assert "if rows is None:" in outcome.after["m.py"]
    assert "0 if row % 2 else row" in outcome.after["m.py"]
