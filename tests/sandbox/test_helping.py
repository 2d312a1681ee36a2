"""Candidates that help one another, in real sandboxes: put together by a question, ordered by a ranker."""

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
        request = refine.RefineRequest(root=root, target="test_m.py")
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


async def test_one_question_about_two_answers_solves_what_neither_does(solve):
    unlike = "def total(rows):\n    return 0 if rows is None else len(rows)\n"
    other = "def total(rows):\n    return sum(row for row in rows if row % 2 == 0)\n"
    whole = "def total(rows):\n    return sum(row for row in rows or () if row % 2 == 0)\n"
    outcome = await solve([unlike, other, unlike, other, whole], preset="merge")
    assert outcome.verified is Verified.VERIFIED
    best = outcome.attempts[outcome.best]
    assert (best.draft.move, best.draft.prompt, best.parent) == (Move.REFINE, "merge", 1)


async def test_what_a_ranker_puts_first_runs_first_and_after_a_pass_none(solve, tmp_path):
    right = GUARDED.replace("+= row", "+= 0 if row % 2 else row")
    ranker = tmp_path / "ranker.jsonl"
    ranker.write_text(json.dumps("3, 1, 2, 4") + "\n")
    answers = [EVEN, GUARDED, right, EVEN.replace("result", "amount")]
    more = {"ranker.model": f"scripted:{ranker}", "ranker.after": 0.0, "preset": "merge"}
    outcome = await solve(answers, **more)
    assert outcome.verified is Verified.VERIFIED
    assert outcome.best == 3
    assert [each.error_class for each in outcome.attempts[1:]] == ["NotRun", "NotRun", "", "NotRun"]
