"""Rows of MBPP as tasks."""

from __future__ import annotations

import ast
import json
import random

import pytest

from greenloop.bench import mbpp
from greenloop.core.errors import UsageProblem


def row(code: str, *tests: str, number: int = 1) -> dict:
    return {"task_id": number, "text": 'Say "hi"\\n.', "code": code, "test_setup_code": "", "test_list": list(tests)}


def test_stub_keeps_signature_and_hides_the_answer():
    code = "def helper(x):\r\n\treturn x\r\ndef f(a, *, b=2):\r\n\treturn helper(a) + b"
    parsed = mbpp.parse(row(code, "assert f(1) == 3"))
    (function,) = ast.parse(mbpp.stub(parsed)).body
    assert ast.unparse(function.args) == "a, *, b=2"
    assert ast.get_docstring(function, clean=False) == parsed.text
    assert ast.unparse(function.body[1:]) == "raise NotImplementedError"


def test_stub_has_what_only_the_tests_can_use():
    code = "class Pair:\n    def __init__(self, a):\n        self.a = a\n\ndef f(p):\n    return p.a"
    parsed = mbpp.parse(row(code, "assert f(Pair(1)) == 1"))
    assert [node.name for node in ast.parse(mbpp.stub(parsed)).body] == ["Pair", "f"]


def test_tests_that_judge_are_apart_from_those_shown():
    tests = ["assert f(1) == 2", "assert f(2) == 3", "assert f(3) == 4"]
    task = mbpp.task(mbpp.parse(row("def f(a):\n    return a + 1", *tests)), shown=2)
    assert task.target == "test_solution.py::TestShown"
    assert len(task.shown) == 2
    assert "f(3)" not in "".join(task.files.values())
    assert task.cases == tuple(f"test_judge.py::test_{n}" for n in (1, 2, 3))
    assert "f(3)" in task.judge["test_judge.py"]


def test_the_sample_is_the_one_that_the_seed_gives_everywhere():
    rows = [mbpp.parse(row("def f(a):\n    return a", "assert f(1) == 1", number=n)) for n in range(974)]
    random.seed(7)
    assert [each.number for each in mbpp.sample(rows, 60, 7)] == random.sample(range(974), 60)
    assert len(mbpp.sample(rows, 0, 7)) == 974


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (json.dumps(row("x = 1", "assert x == 1")), "no function"),
        (json.dumps({"task_id": 3}), "'code' is missing"),
        (json.dumps(row("def f(:", "assert f(1)")), "invalid syntax"),
        ("[1]", "not a JSON object"),
        ("{", "not JSON"),
        ("", "is empty"),
    ],
)
def test_a_file_that_is_not_mbpp_is_told_by_its_line(tmp_path, line, why):
    good = json.dumps(row("def f(a):\n    return a", "assert f(1) == 1"))
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{good}\n{line}\n" if line else "\n")
    with pytest.raises(UsageProblem, match=why) as caught:
        mbpp.load(path)
    assert not line or "Line 2" in str(caught.value)
