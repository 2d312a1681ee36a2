"""The stand-in for a model of which samples were recorded: which one it gives, and the ladder over them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from greenloop_lab.bench import mbpp

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import recorded_server
import sampling

ROW = {
    "task_id": 7,
    "text": "Write a function to double a number.",
    "code": "def double(x):\n    return 2 * x\n",
    "test_list": ["assert double(3) == 6", "assert double(2) == 4"],
    "test_setup_code": "",
}
TASK = "mbpp-7"
HEATS = (0.6, 0.75, 0.9, 1.0)


def attempt(number: int, expression: str, temperature: float) -> dict:
    passed, right = expression in ("x + 3", "2 * x"), expression == "2 * x"
    return {
        "kind": "attempt",
        "task": TASK,
        "number": number,
        "temperature": temperature,
        "answer": f"```python\ndef double(x):\n    return {expression}\n```",
        "status": "passed" if passed else "failed",
        "error_class": "" if passed else "AssertionError",
        "right": right,
        "prompt_tokens": 100,
        "completion_tokens": 10,
    }


@pytest.fixture
def files(tmp_path):
    """The rows, in which the seventh answer is right, and the file of MBPP."""
    wrong = [f"x - {number}" for number in range(20)]
    expressions = [*wrong[:6], "2 * x", *wrong[6:8]]
    rows = [
        attempt(number, each, HEATS[(number - 2) % 4] if number > 1 else 0.0)
        for number, each in enumerate(expressions, 1)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"kind": "run"}]))
    (tmp_path / "mbpp.jsonl").write_text(json.dumps(ROW) + "\n")
    return tmp_path / "rows.jsonl", tmp_path / "mbpp.jsonl"


def test_each_sample_is_given_once_the_nearest_first(files):
    samples = recorded_server.read_samples(files[0])
    assert samples.take(TASK, 0.0, 1)["number"] == 1
    assert [samples.take(TASK, heat, 1)["number"] for heat in (0.93, 0.61, 0.6, 0.6)] == [4, 2, 6, 3]
    rest = [samples.take(TASK, 1.0, seed)["number"] for seed in range(4)]
    assert sorted(rest) == [5, 7, 8, 9]
    assert samples.take(TASK, 1.0, 5) == samples.take(TASK, 1.0, 5)
    assert samples.counts == {"greedy": 1, "sampled": 8, "drawn again": 2}


def test_a_task_is_known_by_its_signature_and_docstring(files):
    stubs = recorded_server.read_stubs(files[1])
    stub = mbpp.stub_module(mbpp.load(files[1])[0])
    assert recorded_server.find_task(f"Write it.\n```python\n{stub}```\nAnd so on.", stubs) == TASK
    assert recorded_server.find_task(stub.replace("double a number", "halve a number"), stubs) == ""


@pytest.mark.parametrize(
    ("slots", "most", "solved", "answers"), [(4, 5, 0, 5), (1, 40, 0, 5), (4, 40, 1, 9), (16, 40, 1, 10)]
)
def test_the_ladder_climbs_over_the_samples(files, slots, most, solved, answers):
    recorded = recorded_server.read_samples(files[0])
    problem = sampling.make_problem(mbpp.load(files[1])[0])
    programs = sampling.read_programs(problem, [recorded.greedy[TASK], *recorded.others[TASK]])
    count = sampling.climb(problem, programs, recorded, TASK, slots, most)
    assert (count["solved"], count["answers"], count["tokens"]) == (solved, answers, 110 * answers)
