"""A second request for the same target of an unchanged project begins with the results of the first."""

from __future__ import annotations

import asyncio
import json

import pytest

from greenloop.engine import refine
from greenloop.engine.baseline import known_baseline
from greenloop.project import configuration
from greenloop_sandbox import SandboxPool
from greenloop_sandbox.backends._resident import ResidentSession

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

CODE = (
    "import pathlib\n\n\ndef scale(values):\n    top = float(pathlib.Path('top.txt').read_text())\n    return values\n"
)
TESTS = "from m import scale\n\n\ndef test_scale():\n    assert scale([1, 2]) == [0.5, 1.0]\n"
RIGHT = "```python\ndef scale(values):\n    top = float(pathlib.Path('top.txt').read_text())\n    return [value / top for value in values]\n```"
MEASURED = "running the test on the unchanged code"


@pytest.fixture
async def play(tmp_path, monkeypatch, lay):
    """`play(answer, **change)`: what was told, and the outcome; all requests share a sandbox."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = lay(tmp_path / "w", {"m.py": CODE, "test_m.py": TESTS, "top.txt": "2"})
    pool = SandboxPool()

    async def run(answer, *, target="test_m.py::test_scale", buffers=None, **keys):
        script = tmp_path / "answers.jsonl"
        script.write_text(json.dumps(answer) + "\n")
        line = {"model": f"scripted:{script}", "preset": "plain", "attempts": 1, "sandbox.kind": "bubblewrap", **keys}
        settings, _ = configuration.load(root, command_line=line)
        told: list[str] = []
        request = refine.RefineRequest(root=root, target=target, buffers=buffers or {})
        outcome = await refine.refine(
            request, settings=settings, emit=lambda _event: None, report_status=told.append, pool=pool
        )
        return told, outcome

    run.root = root
    yield run
    await pool.close()


async def test_unchanged_project_is_not_measured_again(play):
    told, outcome = await play("no code")
    assert MEASURED in told
    assert not outcome.solved
    told, outcome = await play(RIGHT)
    assert MEASURED not in told
    assert known_baseline.AGAIN in told
    assert outcome.solved
    assert outcome.verified == "verified"


@pytest.mark.parametrize("name", ["m.py", "test_m.py", "top.txt", "conftest.py"])
async def test_every_change_of_a_file_is_measured(play, name):
    await play("no code")
    with (play.root / name).open("a") as file:
        file.write("\n")
    told, _outcome = await play("no code")
    assert MEASURED in told


async def test_unsaved_text_other_target_and_setting_are_measured(play):
    await play("no code")
    told, _outcome = await play("no code", buffers={"m.py": (CODE + "\n").encode()})
    assert MEASURED in told
    told, _outcome = await play("no code", target="test_m.py")
    assert MEASURED in told
    told, _outcome = await play("no code", target="test_m.py", **{"sandbox.seconds": 9})
    assert MEASURED in told


async def test_a_green_target_is_measured_each_time(play):
    (play.root / "m.py").write_text(CODE.replace("return values", "return [value / top for value in values]"))
    for _ in range(2):
        told, outcome = await play("no code")
        assert MEASURED in told
        assert outcome.reason == "already-green"


async def test_the_state_of_the_files_is_read_while_the_sandbox_opens(play, monkeypatch):
    is_read = asyncio.Event()
    find, warm = known_baseline.KnownBaseline.find, ResidentSession.warm

    async def find_first(self):
        is_read.set()
        return await find(self)

    async def warm_then(self):
        await asyncio.wait_for(is_read.wait(), 30)
        await warm(self)

    monkeypatch.setattr(known_baseline.KnownBaseline, "find", find_first)
    monkeypatch.setattr(ResidentSession, "warm", warm_then)
    told, _outcome = await play("no code")
    assert MEASURED in told
