"""What is common to every command."""

from __future__ import annotations

import pytest

from greenloop.cli.main import EPILOGS, SUMMARIES, _installed_commands, main
from greenloop.core import entry_points


def test_serve_is_the_language_server(project, monkeypatch):
    monkeypatch.setattr("greenloop.lsp.server.serve", lambda **_: 7)
    assert main(["serve", "--stdio"]) == 7


def test_the_laboratorys_command_says_how_to_get_it(install, capsys):
    assert main(["bench", "report", "results.jsonl"]) == 2
    assert capsys.readouterr().err == (
        "greenloop: `greenloop bench` belongs to greenloop's laboratory, which is not installed.\n"
        "  Run `pip install ./lab` in a checkout of greenloop, with the Python that has greenloop.\n"
    )


@pytest.mark.parametrize("words", [["fix", "--help"], ["--version"], []])
def test_a_command_of_its_own_reads_no_other_packages(install, words):
    assert _installed_commands(words) == {}
    assert entry_points._others.cache_info().misses == 0


@pytest.mark.parametrize("command", ["", "history", "improve", "undo", *SUMMARIES])
def test_help_fits_80_columns_and_only_commands_that_judge_have_the_exit_codes(command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*([command] if command else []), "--help"]) == 0
    text = capsys.readouterr().out
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert ("exit codes:" in text) == (command in ("", *EPILOGS))
