"""Rows of MBPP as tasks."""

from __future__ import annotations

import ast
import json
import random

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench import mbpp


def row(code: str, *tests: str, number: int = 1) -> dict:
    return {"task_id": number, "text": 'Say "hi"\\n.', "code": code, "test_setup_code": "", "test_list": list(tests)}


def test_stub_keeps_signature_and_hides_the_answer():
    code = "def helper(x):\r\n\treturn x\r\ndef f(a, *, b=2):\r\n\treturn helper(a) + b"
    parsed = mbpp.parse(row(code, "assert f(1) == 3"))
    (function,) = ast.parse(mbpp.stub_module(parsed)).body
    assert ast.unparse(function.args) == "a, *, b=2"
    assert ast.get_docstring(function, clean=False) == parsed.text
    assert ast.unparse(function.body[1:]) == "raise NotImplementedError"


def test_stub_has_what_only_the_tests_can_use():
    code = "class Pair:\n    def __init__(self, a):\n        self.a = a\n\ndef f(p):\n    return p.a"
    parsed = mbpp.parse(row(code, "assert f(Pair(1)) == 1"))
    assert [node.name for node in ast.parse(mbpp.stub_module(parsed)).body] == ["Pair", "f"]


def test_stub_has_what_only_the_set_up_code_uses():
    code = "class Node:\n    def __init__(self, a):\n        self.a = a\n\ndef f(p):\n    return p.a"
    tree = row(code, "assert f(root) == 1") | {"test_setup_code": "root = Node(1)"}
    parsed = mbpp.parse(tree)
    assert [node.name for node in ast.parse(mbpp.stub_module(parsed)).body] == ["Node", "f"]
    assert parsed.function.name == "f"
    vague = mbpp.parse(mbpp.vary(tree | {"test_setup_code": "root = Node(1)\nf(root)"}, mbpp.VAGUE))
    assert vague.setup == "root = Node(1)\nsolve(root)"


def test_names_that_begin_with_an_underscore_are_imported():
    code = "def _make(a):\n    return [a]\n\ndef _sum(a):\n    return sum(a)\n\ndef _other():\n    pass"
    task = mbpp.make_task(mbpp.parse(row(code, "assert _sum(_make(1)) == 1")))
    head = "from solution import *\nfrom solution import _make\nfrom solution import _sum\n"
    assert task.files["test_solution.py"].startswith(head)
    assert task.judge["test_judge.py"].startswith(head)
    plain = mbpp.make_task(mbpp.parse(row("def f(a):\n    return a", "assert f(1) == 1")))
    assert plain.judge["test_judge.py"] == "from solution import *\n\n\n\ndef test_1():\n    assert f(1) == 1\n"


def test_tests_that_judge_are_apart_from_those_shown():
    tests = ["assert f(1) == 2", "assert f(2) == 3", "assert f(3) == 4"]
    task = mbpp.make_task(mbpp.parse(row("def f(a):\n    return a + 1", *tests)), shown=2)
    assert task.target == "test_solution.py::TestShown"
    assert len(task.shown) == 2
    assert "f(3)" not in "".join(task.files.values())
    assert task.cases == tuple(f"test_judge.py::test_{n}" for n in (1, 2, 3))
    assert "f(3)" in task.judge["test_judge.py"]


def test_the_sample_is_the_one_that_the_seed_gives_everywhere():
    rows = [mbpp.parse(row("def f(a):\n    return a", "assert f(1) == 1", number=n)) for n in range(974)]
    random.seed(7)
    assert [each.number for each in mbpp.draw_sample(rows, 60, 7)] == random.sample(range(974), 60)
    assert len(mbpp.draw_sample(rows, 0, 7)) == 974


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (json.dumps(row("x = 1", "assert x == 1")), "never call a function"),
        (json.dumps({"task_id": 3}), "'text' is missing"),
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
    with pytest.raises(UsageError, match=why) as caught:
        mbpp.load(path)
    assert not line or "Line 2" in str(caught.value)


def test_the_sanitized_set_is_one_list(tmp_path):
    path = tmp_path / "sanitized.json"
    listed = {
        "task_id": 2,
        "prompt": "Add.",
        "code": "def f(a):\n    return a",
        "test_imports": ["import math"],
        "test_list": ["assert f(1) == math.floor(1.5)"],
    }
    path.write_text(json.dumps([listed], indent=2))
    (found,) = mbpp.load(path)
    assert (found.number, found.text, found.setup) == (2, "Add.", "import math")


@pytest.mark.parametrize(
    ("level", "doc", "name"),
    [
        ("full", "Add one to a number, then halve.", "inc"),
        ("half", "Add one to a", "inc"),
        ("vague", "Add one to a number, then halve.", "solve"),
        ("bare", "Make the tests pass.", "solve"),
    ],
)
def test_a_task_told_less_well_has_the_same_judge(tmp_path, level, doc, name):
    path = tmp_path / "rows.jsonl"
    told = row("def inc(a):\n    return (a + 1) / 2", "assert inc(1) == 1", "assert inc(3) == 2", number=5)
    path.write_text(json.dumps({**told, "text": "Add one to a number, then halve."}))
    task = mbpp.make_task(mbpp.load(path, level)[0], level=level)
    tree = ast.parse(task.files["solution.py"])
    assert (tree.body[0].name, ast.get_docstring(tree.body[0])) == (name, doc)
    assert task.judge["test_judge.py"].count(f"assert {name}(") == 2
    assert task.id == ("mbpp-5" if level == "full" else f"mbpp-5-{level}")
    exec(task.solution["solution.py"] + task.judge["test_judge.py"].partition("\n")[2] + "\ntest_1()\ntest_2()", {})
