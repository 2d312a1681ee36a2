"""`greenloop acp`: its arguments, and a machine without the library."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from greenloop.cli import options
from greenloop.cli.main import main
from greenloop.plugins.agents.commands import acp


def test_settings_are_named_as_for_every_command():
    parser = argparse.ArgumentParser()
    acp.add_arguments(parser)
    words = ["--model", "scripted:answers.jsonl", "--sandbox", "none", "--set", "seconds=5"]
    table = options.settings_table(parser.parse_args(words), cwd=Path("/home/user"))
    assert table == {"model": "scripted:/home/user/answers.jsonl", "sandbox.kind": "none", "seconds": 5}


def test_without_the_library_it_says_how_to_install_it(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith(("greenloop.plugins.agents.acp", "acp."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "acp", None)
    assert main(["acp"]) == 3
    assert (
        "The library for the Agent Client Protocol (agent-client-protocol) is not installed.\n"
        in capsys.readouterr().err
    )
