"""Settings on the command line, by flags or by name."""

from __future__ import annotations

import argparse
from pathlib import Path

from greenloop.cli import options


def test_settings_by_flag_and_by_name():
    parser = argparse.ArgumentParser()
    options.add(parser)
    words = ["--model", "scripted:answers.jsonl", "--sandbox", "none", "--set", "seconds=5"]
    table = options.settings_table(parser.parse_args(words), cwd=Path("/home/user"))
    assert table == {"model": "scripted:/home/user/answers.jsonl", "sandbox.kind": "none", "seconds": 5}


def test_what_is_not_typed_is_not_set():
    parser = argparse.ArgumentParser()
    options.add_settings(parser)
    assert options.settings_table(parser.parse_args([]), cwd=Path("/home/user")) == {}
