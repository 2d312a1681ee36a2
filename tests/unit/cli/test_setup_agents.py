"""`greenloop setup AGENT`: rules and tools for coding agents."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from greenloop.cli.agents import AGENTS
from greenloop.cli.main import main

PAGE = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
WRITABLE = [name for name, agent in AGENTS.items() if agent.config_file is not None]


@pytest.fixture(autouse=True)
def command(project, monkeypatch):
    monkeypatch.setattr("greenloop.cli.commands.setup.command", lambda verb: ["greenloop", verb])
    return project


def file_of(name: str) -> Path:
    make = AGENTS[name].config_file
    assert make is not None
    return make()


@pytest.mark.parametrize("name", list(AGENTS))
def test_the_page_has_the_same_lines_word_for_word(name, capsys):
    assert main(["setup", name]) == 0
    assert f"\n{capsys.readouterr().out}```\n" in PAGE


@pytest.mark.parametrize("name", WRITABLE)
def test_write_makes_the_file_and_a_second_time_changes_nothing(name):
    assert main(["setup", name, "--write", "--yes"]) == 0
    first = file_of(name).read_bytes()
    assert main(["setup", name, "--write", "--yes"]) == 0
    assert file_of(name).read_bytes() == first


def test_what_a_rules_file_held_stays_and_the_block_is_replaced():
    path = file_of("agents")
    path.write_text("# Ours\n\nBe kind.\n")
    assert main(["setup", "agents", "--write", "--yes"]) == 0
    text = path.read_text()
    assert text.startswith("# Ours\n\nBe kind.\n\n<!-- >>> greenloop for agents >>> -->\n")
    path.write_text(text.replace("Never edit", "Always edit"))
    assert main(["setup", "agents", "--write", "--yes"]) == 0
    assert path.read_text() == text


@pytest.mark.parametrize("name", ["claude", "cursor", "vscode-mcp"])
def test_other_servers_stay(name):
    path = file_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    key = "servers" if name == "vscode-mcp" else "mcpServers"
    path.write_text(json.dumps({key: {"other": {"command": "x"}}}))
    assert main(["setup", name, "--write", "--yes"]) == 0
    servers = json.loads(path.read_text())[key]
    assert servers["other"] == {"command": "x"}
    assert (servers["greenloop"]["command"], servers["greenloop"]["args"]) == ("greenloop", ["mcp"])


def test_a_table_that_is_there_already_is_not_doubled(capsys):
    path = file_of("codex")
    path.parent.mkdir(parents=True)
    mine = '[mcp_servers.greenloop]\ncommand = "mine"\n'
    path.write_text(mine)
    assert main(["setup", "codex", "--write", "--yes"]) == 2
    assert "cannot be changed safely" in capsys.readouterr().err
    assert path.read_text() == mine
    path.write_text('model = "o"\n')
    assert main(["setup", "codex", "--write", "--yes"]) == 0
    assert tomllib.loads(path.read_text())["mcp_servers"]["greenloop"]["args"] == ["mcp"]
