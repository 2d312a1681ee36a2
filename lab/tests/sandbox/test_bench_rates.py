"""`greenloop bench rate` in the real sandbox, with a model that designs what the test says."""

from __future__ import annotations

import json

import pytest

from greenloop.cli.main import main

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

ROWS = [
    {
        "task_id": number,
        "text": f"Write a function to add {number} to the largest of two numbers.",
        "code": f"def f{number}(a, b):\n  if a > b:\n    return a + {number}\n  return b + {number}",
        "test_setup_code": "",
        "test_list": [f"assert f{number}({a}, {b}) == {max(a, b) + number}" for a, b in ((1, 2), (5, 3), (0, 0))],
    }
    for number in (1, 2)
]


def test_one_command_tells_the_rates_of_designed_tests(tmp_path, monkeypatch, capsys, bare_python):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "mbpp.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    # of each task three answers: right and strong tests of the first function, one wrong test of the second
    answers = ["assert f1(1, 2) == 3\nassert f1(5, 3) == 6"] * 3 + ["assert f2(1, 2) == 3\nassert f2(9, 1) == 11"] * 3
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    words = ["--model", "scripted:answers.jsonl", "--sandbox", "bubblewrap", "--set", f"interpreter={bare_python}"]
    assert main(["bench", "rate", "mbpp:mbpp.jsonl", *words]) == 0
    out, err = capsys.readouterr()
    assert "mbpp-1: 2 of 2 tests are right" in err
    assert "mbpp-2: 1 of 2 tests are right" in err
    lines = out.splitlines()
    assert lines[0] == "4 designed tests of 2 of 2 tasks; shares with 95 % intervals."
    assert "right tests" in lines[1]
    assert "3 of 4, 75%" in lines[1]
    assert "true positives" in lines[2]
    assert "1 of 2, 50%" in lines[2]
    assert "false positives: wrong programs that pass all" in lines[3]
    assert "1 of 14, 7%" in lines[3]  # `a > b` and `a >= b` are the same function
    assert int(lines[4].split(" of ")[-1].split(",")[0]) > 3  # wrong programs that the hidden tests refuse
