"""The MBPP benchmark's own pieces; the whole of it is checked by its `--model reference`."""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "mbpp.py"


@pytest.fixture(scope="module")
def mbpp():
    spec = importlib.util.spec_from_file_location("mbpp", SCRIPT)
    module = sys.modules["mbpp"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["mbpp"]


def row(code: str, *tests: str) -> dict:
    return {"task_id": 1, "text": 'Say "hi"\\n.', "code": code, "test_setup_code": "", "test_list": list(tests)}


def test_stub_keeps_signature_and_hides_the_answer(mbpp):
    code = "def helper(x):\r\n\treturn x\r\ndef f(a, *, b=2):\r\n\treturn helper(a) + b"
    task = mbpp.task(row(code, "assert f(1) == 3"))
    tree = ast.parse(mbpp.stub(task))
    (function,) = tree.body
    assert ast.unparse(function.args) == "a, *, b=2"
    assert ast.get_docstring(function, clean=False) == task.text
    assert ast.unparse(function.body[1:]) == "raise NotImplementedError"


def test_stub_has_what_only_the_tests_can_use(mbpp):
    code = "class Pair:\n    def __init__(self, a):\n        self.a = a\n\ndef f(p):\n    return p.a"
    task = mbpp.task(row(code, "assert f(Pair(1)) == 1"))
    assert [node.name for node in ast.parse(mbpp.stub(task)).body] == ["Pair", "f"]


def test_task_without_a_function_is_refused(mbpp):
    with pytest.raises(ValueError, match="task 1"):
        mbpp.task(row("x = 1", "assert x == 1"))


def test_only_whole_records_of_the_same_arm_count_as_done(mbpp, tmp_path):
    out = tmp_path / "results.jsonl"
    arm = {"model": "local", "preset": "plain", "limit": 5}
    lines = [arm | {"task": 1}, arm | {"task": 2, "attempts": 3}, arm | {"task": 3, "limit": 1}]
    out.write_text("\n".join(map(json.dumps, lines)) + '\n{"task": 4, "mod')
    assert set(mbpp.done(out, arm)) == {1, 2}
    assert mbpp.done(tmp_path / "none", arm) == {}


def test_table_counts(mbpp):
    good = {"first": False, "end": True, "shown_passed": True, "attempts": 3, "seconds": 2.0, "error_class": ""}
    bad = good | {"end": False, "attempts": 5, "error_class": "AssertionError"}
    rows = [each | {"prompt_tokens": 10, "completion_tokens": 5} for each in (good, bad)]
    lines = dict(line.split("  ", 1) for line in mbpp.table(rows).splitlines() if "  " in line)
    assert lines["solved at the end"].strip() == "1"
    assert lines["tokens a task"].strip() == "15"
    assert lines["attempts on solved tasks"].strip() == "3.00"
    assert lines["unsolved ended in"].strip() == "1 AssertionError"
