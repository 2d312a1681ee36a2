"""A run that ended unsolved goes on: its attempts count, nothing is asked twice, and a changed project is noticed."""

from __future__ import annotations

import asyncio
import json

import pytest

from greenloop.cli.main import main
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
            refine.RefineRequest(root=root, target="test_m.py::test_largest", earlier=earlier),
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
    assert f"continuing after attempt 3 of run {first.run}" in told
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


@pytest.fixture
def go_on(play, tmp_path, monkeypatch, capsys):
    """`go_on(run, *words)`: the exit code of `greenloop fix --continue`, and the last line of its JSON."""
    monkeypatch.chdir(tmp_path)

    def run(number, *words):
        line = ["fix", "--continue", str(number), "--model", f"scripted:{tmp_path / 'answers.jsonl'}", "--json"]
        code = main([*line, "--set", "sandbox.kind=bubblewrap", *words])
        return code, json.loads(capsys.readouterr().out.splitlines()[-1])

    return run


async def test_a_run_of_a_moved_project_goes_on_where_it_is_now(play, go_on, tmp_path):
    first, _told = await play(BODIES[:2], attempts=2)
    (tmp_path / "answers.jsonl").write_text(json.dumps(f"```python\ndef largest(values):\n    {BODIES[9]}\n```") + "\n")
    moved = play.root.rename(tmp_path / "moved")
    code, error = await asyncio.to_thread(go_on, first.run)
    assert (code, error["message"]) == (2, f"The folder of run {first.run} is gone: {play.root}.")
    assert error["remedy"].endswith(f"`greenloop fix --continue {first.run} --root FOLDER`.")
    code, finished = await asyncio.to_thread(go_on, first.run, "--root", str(moved))
    assert (code, finished["attempts"]) == (0, 3)


@pytest.mark.parametrize("text", [None, "def test_other():\n    assert True\n"])
async def test_a_run_whose_test_is_gone_is_named_and_kept(play, go_on, text):
    first, _told = await play(BODIES[:2], attempts=2)
    test = play.root / "test_m.py"
    test.unlink() if text is None else test.write_text(text)
    code, error = await asyncio.to_thread(go_on, first.run)
    assert (code, error["message"]) == (2, f"The target of run {first.run} is gone: test_m.py::test_largest.")
    assert f"Its attempts are kept: `greenloop history show {first.run}`." in error["remedy"]
    assert len(read_unsolved_run(first.run).attempts) == 2
