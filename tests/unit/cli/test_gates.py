"""`greenloop setup AGENT --gate`: the stop hooks of coding agents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from greenloop.cli.gates import GATES
from greenloop.cli.main import main

PAGE = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def command(project, monkeypatch):
    monkeypatch.setattr("greenloop.cli.commands.setup.command", lambda verb: ["greenloop", verb])
    return project


@pytest.mark.parametrize("name", list(GATES))
def test_the_page_has_each_gate_word_for_word(name, capsys):
    assert main(["setup", name, "--gate"]) == 0
    assert f"\n{capsys.readouterr().out}```\n" in PAGE


@pytest.mark.parametrize("name", [name for name in GATES if name != "opencode"])
def test_a_gate_is_a_hook_that_calls_verify(name, capsys):
    assert main(["setup", name, "--gate", "--write", "--yes"]) == 0
    make = GATES[name].config_file
    assert make is not None
    (hooks,) = json.loads(make().read_text())["hooks"].values()
    hook = hooks[0].get("hooks", hooks)[0]
    words = (hook.get("command") or hook["bash"]).split()
    assert words[:3] == ["greenloop", "verify", "--gate"]
    assert ("--json" in words) is (name != "gemini")


def test_an_agent_without_a_stop_hook_has_no_gate(capsys):
    assert main(["setup", "zed", "--gate"]) == 2
    assert "There are: claude, codex" in capsys.readouterr().err
