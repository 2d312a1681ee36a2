"""The gate for agents, `explain` and `undo` on a real project: a turn that ends unverified, and the way back."""

from __future__ import annotations

import json

import pytest

from agent_calls import DOUBLE, RIGHT, TEST, WRONG
from git_program import commit_all
from greenloop.cli.main import main

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]


@pytest.fixture
def work(tmp_path, monkeypatch, bare_python):
    root = tmp_path / "project"
    root.mkdir()
    for name, text in {"m.py": WRONG, "test_m.py": TEST, "pytest.ini": "[pytest]\n"}.items():
        (root / name).write_text(text)
    commit_all(root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
    monkeypatch.setenv("GREENLOOP_INTERPRETER", str(bare_python))
    return root


@pytest.mark.story("an agent that ends its turn unverified is told what to do")
def test_an_agent_is_told_what_failed_and_stops_once_it_is_right(work, capsys):
    assert main(["verify", "--gate"]) == 0  # nothing differs
    (work / "m.py").write_text(RIGHT.replace("return 1", "return 2"))
    assert main(["verify", "--gate"]) == 2
    text = capsys.readouterr().err
    assert "failed: test_m.py::test_one: AssertionError" in text
    assert "Next: Correct the code" in text
    assert len(text) < 1_600
    (work / "m.py").write_text(RIGHT)
    assert main(["verify", "--gate"]) == 0
    assert capsys.readouterr().err == ""


def test_a_faked_pass_does_not_end_the_turn(work, capsys):
    (work / "m.py").write_text("import os\n\n\ndef double(x):\n    os._exit(0)\n\n\ndef one():\n    return 1\n")
    assert main(["verify", "--gate", "--json", DOUBLE]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["decision"] == "block"
    assert "do not fake the pass" in said["reason"]


@pytest.mark.story("what a run wrote can be undone")
def test_a_failure_is_explained_fixed_and_the_fix_undone(work, capsys):
    assert main(["explain", DOUBLE]) == 1
    out = capsys.readouterr().out
    assert "where 6 = double(5)" in out
    assert "1. double, m.py:1" in out
    assert "return x + 1" in out
    (work.parent / "answers").write_text(json.dumps("```python\ndef double(x):\n    return x * 2\n```") + "\n")
    words = ["--model", f"scripted:{work.parent / 'answers'}", "--preset", "plain", "--apply"]
    assert main(["fix", DOUBLE, *words]) == 0
    assert (work / "m.py").read_text() == RIGHT
    assert main(["explain", DOUBLE]) == 0
    assert main(["undo"]) == 0
    assert (work / "m.py").read_text() == WRONG
