"""The harness of docstring tasks in the sandbox: recorded answers in, outcomes and values of every test out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.docstrings import case_runner, matrix, table
from benchmarks.docstrings.task import Docstring, make_stub

pytestmark = pytest.mark.needs("bubblewrap")

REFERENCE = 'def twice(x):\n    """Twice x.\n\n    >>> twice(2)\n    4\n    """\n    return x + x\n'
JUDGE = "from m import twice\n\n\ndef test_three():\n    assert twice(3) == 6\n"


def make_answer(text: str) -> dict:
    return {"answer": text, "finish": "stop", "prompt_tokens": 10, "completion_tokens": 5}


def make_candidate(expression: str) -> dict:
    return make_answer(f"```python\ndef twice(x):\n    return {expression}\n```")


async def test_the_matrix_has_what_every_test_says_of_every_program(tmp_path):
    docstring = Docstring(
        id="mbpp-0",
        folder="mbpp",
        path="m.py",
        qualname="twice",
        text=make_stub(REFERENCE, "twice"),
        reference=REFERENCE,
        judge=("test_judge.py::test_three",),
        tests=("test_judge.py::test_three",),
        files={"test_judge.py": JUDGE},
    )
    root = tmp_path / "mbpp"
    root.mkdir()
    answers = {
        "designer-1": make_answer("assert twice(5) == 10\nassert twice(0) == 1"),
        "designer-2": make_answer("assert twice(5) == 10"),
        "candidate-0": make_candidate("x * x"),
        "candidate-1": make_candidate("2 * x"),
        "candidate-2": make_candidate("x * x"),
        "candidate-3": make_answer("I do not know."),
    }
    async with case_runner.open_runner(root) as runner:
        row = await matrix.build_row(runner, docstring, docstring.problem(tmp_path), answers)
    five, zero = (case["id"] for case in row["cases"])
    assert [case["batch"] for case in row["cases"]] == ["1 2", "1"]
    assert row["reference"][five] == case_runner.PASSED
    assert row["reference"][zero] == "= 0"
    square, right = row["candidates"]
    assert (square["numbers"], square["right"], square["seen"][five]) == ([1, 3], False, "= 25")
    assert (right["numbers"], right["right"], right["seen"][five]) == ([2], True, case_runner.PASSED)
    assert row["mutants"]
    assert any(each["seen"][five] != case_runner.PASSED for each in row["mutants"])
    page = table.make_page([row])
    assert "| MBPP | designed | 1 of 2, 50%" in page
    assert "true positives | false positives" in page
