"""A run that ended unsolved goes on: its attempts count, nothing is asked twice, and a changed project is noticed."""

from __future__ import annotations

import json

import pytest

from greenloop.core.errors import UsageError
from greenloop.core.events import Tested
from greenloop.core.records.outcome import StopReason
from greenloop.engine import refine
from greenloop.engine.history.unsolved_run import read_unsolved_run
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

CODE = "def largest(values):\n    return min(values)\n"
TESTS = "from m import largest\n\n\ndef test_largest():\n    assert largest([1, 3, 2]) == 3\n    assert largest([]) is None\n"
BODIES = (
    "return 0",
    "return sum(values)",
    "return len(values",
    "return values[0]",
    "return sorted(values)",
    "return sorted(values)[0]",
    "return max(values)",
    "return values[1:]",
    "return max(values + [0])",
    "return max(values, default=None)",
)


@pytest.fixture
def play(tmp_path, monkeypatch, lay):
    """`play(bodies, earlier, **settings)`: the outcome, and what was told."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = lay(tmp_path / "w", {"m.py": CODE, "test_m.py": TESTS})

    async def run(bodies, earlier=None, **keys):
        script = tmp_path / "answers.jsonl"
        answers = [f"```python\ndef largest(values):\n    {body}\n```" for body in bodies]
        script.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        line = {"model": f"scripted:{script}", "preset": "plain", "sandbox.kind": "bubblewrap", **keys}
        settings, _ = configuration.load(root, command_line=line)
        told: list = []
        outcome = await refine.refine(
            refine.Request(root=root, target="test_m.py::test_largest", earlier=earlier),
            settings=settings,
            emit=told.append,
            report_status=told.append,
        )
        return outcome, told

    run.root = root
    return run


def essence(outcome) -> list:
    return [
        (attempt.draft, attempt.candidate, attempt.error_class, attempt.verdict.status, attempt.usage.tokens)
        for attempt in outcome.attempts[1:]
    ]


async def test_stopped_after_any_attempt_and_continued_it_ends_as_in_one_go(play):
    whole, _told = await play(BODIES, attempts=len(BODIES))
    assert len(whole.attempts) > 5
    for count in range(1, len(whole.attempts) - 1):
        first, _told = await play(BODIES[:count], attempts=count)
        assert first.reason is StopReason.ATTEMPTS
        second, told = await play(BODIES[count:], read_unsolved_run(first.run), attempts=len(BODIES) - count)
        assert essence(second) == essence(whole)
        assert (second.solved, second.reason, second.after) == (whole.solved, whole.reason, whole.after)
        assert second.usage.tokens == whole.usage.tokens
        shown = [event.attempt.number for event in told if isinstance(event, Tested)]
        assert shown[:count] == list(range(1, count + 1))


async def test_another_preset_goes_on_with_the_same_attempts(play):
    first, _told = await play(BODIES[:3], attempts=3)
    second, told = await play(BODIES[9:] * 4, read_unsolved_run(first.run), preset="best-of-n", attempts=5)
    assert f"going on after attempt 3 of run {first.run}" in told
    assert second.solved
    assert [each.number for each in second.attempts] == list(range(len(second.attempts)))


@pytest.mark.parametrize("name", ["m.py", "test_m.py"])
async def test_a_changed_file_is_said_and_its_attempts_do_not_count(play, name):
    first, _told = await play(BODIES[:2], attempts=2)
    with (play.root / name).open("a") as file:
        file.write("\n# changed\n")
    second, told = await play(BODIES[9:], read_unsolved_run(first.run), attempts=1)
    assert f"{name} changed since run {first.run}: its attempts do not count, and the run starts anew" in told
    assert second.solved
    assert len(second.attempts) == 2


async def test_what_cannot_go_on_is_refused(play):
    solved, _told = await play(BODIES[9:], attempts=1)
    with pytest.raises(UsageError, match=f"Run {solved.run} is solved"):
        read_unsolved_run(solved.run)
    with pytest.raises(UsageError, match="There is no run 99"):
        read_unsolved_run(99)
