"""Parametrised tests whose ids differ from run to run: they say nothing about a candidate."""

from __future__ import annotations

import json

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

MODULE = "def square(x):\n    return x + x + 1\n"
RIGHT = "def square(x):\n    return x * x\n"
# What a run of these tests is called depends on the time.
CLOCK = """
import time

import pytest

from m import square


@pytest.mark.parametrize("now", [time.time_ns()])
def test_of_an_hour(now):
    assert square(0) in (0, 1)


def test_type():
    assert isinstance(square(2), int)
"""
TARGET = """
import time

import pytest

from m import square


def test_three():
    assert square(3) == 9


@pytest.mark.parametrize("now", [time.time_ns()])
def test_now(now):
    assert square(3) == 9
"""


@pytest.fixture
def play(tmp_path, monkeypatch, lay):
    """`play(target, answer)`: the outcome with this whole answer."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(target, answer):
        root = lay(tmp_path / "w", {"m.py": MODULE, "test_m.py": TARGET, "test_clock.py": CLOCK})
        script = tmp_path / "answers.jsonl"
        script.write_text(json.dumps(f"```python\n{answer}```\n") + "\n")
        line = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap", "preset": "plain", "attempts": 1}
        settings, _ = configuration.load(root, command_line=line)
        request = refine.RefineRequest(root=root, target=target, buffers={})
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


async def test_such_a_related_test_refuses_no_right_answer(play):
    outcome = await play("test_m.py::test_three", RIGHT)
    assert (outcome.solved, outcome.verified) == (True, Verified.VERIFIED), outcome.message
    assert outcome.evidence.neighbours_unchanged == 1


async def test_a_related_test_with_a_lasting_id_still_does(play):
    outcome = await play("test_m.py::test_three", "def square(x):\n    return 9 if x == 3 else str(x)\n")
    assert not outcome.solved


async def test_such_cases_of_the_target_do_not_count(play):
    outcome = await play("test_m.py", RIGHT)
    assert (outcome.solved, outcome.verified) == (True, Verified.VERIFIED), outcome.message
    assert outcome.evidence.cases == {"user": (1, 1)}


async def test_a_target_of_nothing_else_is_explained(play):
    outcome = await play("test_m.py::test_now", RIGHT)
    assert not outcome.solved
    assert "id" in outcome.message
    assert "flaky" not in outcome.message
