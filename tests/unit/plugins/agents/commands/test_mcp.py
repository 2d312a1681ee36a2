"""`greenloop mcp`: its arguments, and a machine without the library."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from greenloop.cli import options
from greenloop.cli.main import main
from greenloop.plugins.agents.commands import mcp


def test_settings_are_named_as_for_every_command():
    parser = argparse.ArgumentParser()
    mcp.add_arguments(parser)
    words = ["--model", "scripted:answers.jsonl", "--sandbox", "none", "--set", "seconds=5"]
    table = options.settings_table(parser.parse_args(words), cwd=Path("/home/user"))
    assert table == {"model": "scripted:/home/user/answers.jsonl", "sandbox.kind": "none", "seconds": 5}


def test_without_the_library_it_says_how_to_install_it(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith(("greenloop.plugins.agents.mcp", "mcp."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp"]) == 3
    assert "The library for the Model Context Protocol (mcp) is not installed.\n" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["0", "65536"])
def test_a_port_that_none_can_be_is_refused(capsys, port):
    assert main(["mcp", "--http", port]) == 2
    assert "--http takes a port from 1 to 65535." in capsys.readouterr().err
