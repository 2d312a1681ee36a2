"""One-token changes that are tried while the related tests run: what fails the target does not run again."""

from __future__ import annotations

import json

import pytest

from greenloop.core.events import Started
from greenloop.core.records.attempt import Move
from greenloop.engine import refine
from greenloop.engine.baseline import early_changes
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

SCALE = "def scale(values):\n    top = max(values)\n    return [value / top for value in values[1:]]\n"
TESTS = """
import time

from m import scale


def test_scale():
    assert scale([1, 2, 4]) == [0.25, 0.5, 1.0]


def test_slow():
    time.sleep(1)
    assert scale([0, 1]) is not None
"""


@pytest.fixture
def play(tmp_path, monkeypatch, lay):
    """`play(**settings)`: (outcome, what was told until the first attempt)."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(**keys):
        root = lay(tmp_path / "w", {"m.py": SCALE, "test_m.py": TESTS})
        script = tmp_path / "answers.jsonl"
        script.write_text(json.dumps("no answer") + "\n")
        line = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap", **keys}
        settings, _ = configuration.load(root, command_line=line)
        told: list = []
        outcome = await refine.refine(
            refine.RefineRequest(root=root, target="test_m.py::test_scale"),
            settings=settings,
            emit=lambda event: told.append(type(event)),
            report_status=told.append,
        )
        return outcome, told[: told.index(Started)]

    return run


@pytest.fixture
def early(monkeypatch):
    """The runs on the side, in the order of their start."""
    made = []
    start = early_changes.EarlyChanges.start

    def noted(self, baseline):
        made.append(self)
        start(self, baseline)

    monkeypatch.setattr(early_changes.EarlyChanges, "start", noted)
    monkeypatch.setattr("greenloop.engine.refine.processor_count", lambda: 2)
    return made


async def test_what_failed_early_is_not_run_again(play, early):
    outcome, told = await play()
    assert any(text.startswith("trying one-token changes") for text in told)
    (run,) = early
    assert run.failed  # how many depends on how busy the machine is
    assert outcome.solved
    (mutation,) = (each for each in outcome.attempts if each.draft and each.draft.move is Move.MUTATE)
    assert mutation.notes[0].fields["tried"] > len(run.failed)


@pytest.mark.parametrize("keys", [{"preset": "plain"}, {"suite.seconds": 0}], ids=["plain", "no related tests"])
async def test_where_nothing_is_won_it_leaves_nothing_behind(play, early, keys):
    await play(**keys)
    assert all((run._opening, run._working) == (None, None) for run in early)
    assert bool(early) is (keys.get("preset") != "plain")
