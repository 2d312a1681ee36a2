"""The command line of tuning; what runs in a sandbox is tested with one."""

from __future__ import annotations

import json
import sys

import pytest

from greenloop.cli.main import main


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "Name what to tune."),
        (["default"], "The preset default has no template ''."),
        (["defualt:draft"], "There is no preset named 'defualt'."),
        (["default:drift"], "The preset default has no template 'drift'."),
        (["default:draft"], "No tasks to score with were named."),
        (["default:draft", "--tasks", "none.jsonl"], "There is no none.jsonl."),
        (["default:draft", "--tasks", "file:f.jsonl", "--rounds", "0"], "--rounds must be at least 1."),
        (["default:draft", "--tasks", "file:f.jsonl"], "3 tasks cannot show that anything is better"),
        (["default:draft", "--undo"], "was not tuned."),
        (["default", "--settings", "--undo"], "config.toml was not tuned."),
        (["plain", "--settings", "--tasks", "file:f.jsonl"], "does not climb the ladder"),
        (["default:draft", "--settings", "--tasks", "file:f.jsonl"], "There is no preset named 'default:draft'."),
        (["default", "--settings", "--tasks", "file:f.jsonl"], "needs optuna, which is not installed."),
    ],
)
def test_what_cannot_be_tuned_is_one_sentence(project, capsys, monkeypatch, words, why):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "config"))
    monkeypatch.setitem(sys.modules, "optuna", None)
    row = {"prompt": "def f():", "entry_point": "f", "test": "assert f()"}
    (project / "f.jsonl").write_text(3 * (json.dumps(row) + "\n"))
    assert main(["bench", "tune", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("greenloop: ")
    assert why in err
    assert "Traceback" not in err
