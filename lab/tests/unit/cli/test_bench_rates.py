"""The command line of `greenloop bench rate`."""

from __future__ import annotations

from greenloop.cli.main import main


def test_tasks_have_to_be_named(project, capsys):
    assert main(["bench", "rate"]) == 2
    assert "No tasks were named" in capsys.readouterr().err
    assert main(["bench", "rate", "mbpp:nowhere.jsonl"]) == 2
