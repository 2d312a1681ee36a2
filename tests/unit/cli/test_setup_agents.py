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


@pytest.mark.parametrize("name", WRITABLE)
def test_a_file_that_exists_stays_unchanged(name, capsys):
    path = file_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    assert main(["setup", name, "--write", "--yes"]) == 2
    assert path.read_text() == "{}\n"
    assert "by hand" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["claude", "cursor", "vscode-mcp", "codex"])
def test_a_file_that_was_written_starts_the_server(name):
    assert main(["setup", name, "--write", "--yes"]) == 0
    text = file_of(name).read_text()
    value = tomllib.loads(text) if name == "codex" else json.loads(text)
    (servers,) = value.values()
    assert (servers["greenloop"]["command"], servers["greenloop"]["args"]) == ("greenloop", ["mcp"])
