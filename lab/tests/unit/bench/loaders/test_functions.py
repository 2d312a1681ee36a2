"""Files of functions with checks, each written for this test."""

from __future__ import annotations

import json

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench.loaders import functions
from greenloop_lab.bench.mbpp import JUDGE, MODULE, TESTS

PROMPT = 'import math\n\n\ndef area(radius):\n    """The area of a circle.\n\n    >>> area(0)\n    0.0\n    """\n'
CHECK = """
TOLERANCE = 1e-9

def near(one, other):
    return abs(one - other) < TOLERANCE

def check(candidate):
    assert candidate(0) == 0
    unit = candidate(1)
    assert near(unit, 3.141592653589793)
    for radius in range(5):
        assert candidate(radius) >= 0
"""
ROW = {
    "prompt": PROMPT,
    "test": CHECK,
    "entry_point": "area",
    "canonical_solution": "    return math.pi * radius ** 2\n",
}


def write(tmp_path, *rows):
    path = tmp_path / "circles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(task, code: str, file: str) -> list[str]:
    """The names of the tests of a file that pass with this module."""
    names: dict = {}
    exec(code, names)
    text = task.judge[JUDGE] if file == JUDGE else task.files[TESTS]
    text = "\n".join(line for line in text.splitlines() if not line.startswith("from solution"))
    space = dict(names)
    exec(text, space)
    passed = []
    for name, test in list(space.items()):
        if name.startswith("test_"):
            try:
                test()
            except AssertionError:
                continue
            passed.append(name)
    return passed


def test_the_first_check_is_shown_and_all_judge(tmp_path):
    (task,) = functions.load(write(tmp_path, ROW))
    assert (task.id, task.kind) == ("circles-1", "function")
    assert task.files[MODULE] == PROMPT + "    raise NotImplementedError\n"
    assert (task.target, task.shown) == (f"{TESTS}::test_1", (f"{TESTS}::test_1",))
    assert "check" not in task.files[TESTS]
    assert "unit" not in task.files[TESTS]
    assert task.cases == (f"{JUDGE}::test_1",)
    assert run(task, task.solution[MODULE], TESTS) == ["test_1"]
    assert run(task, task.solution[MODULE], JUDGE) == ["test_1"]
    # What only the first assertion says is over-fit.
    fitted = "def area(radius):\n    return 0"
    assert run(task, fitted, TESTS) == ["test_1"]
    assert run(task, fitted, JUDGE) == []


def test_two_shown_checks_are_a_class_with_what_they_need(tmp_path):
    (task,) = functions.load(write(tmp_path, ROW), shown=2)
    assert task.target == f"{TESTS}::TestShown"
    assert "unit = candidate(1)" in task.files[TESTS]


@pytest.mark.parametrize(
    ("test", "judging"),
    [
        ("def test_zero():\n    assert area(0) == 0\n\ndef test_one():\n    assert area(1) > 3\n", 2),
        ("x = area(0)\nassert x == 0\nassert area(1) > 3", 1),
        ("def check(candidate):\n    for radius in (0, 1):\n        assert candidate(radius) == 3 * radius", 1),
    ],
)
def test_other_forms_of_checks(tmp_path, test, judging):
    (task,) = functions.load(write(tmp_path, ROW | {"test": test}))
    assert len(task.cases) == judging
    right = "def area(radius):\n    return 3.1 * radius if radius > 1 else 3.2 * radius\n" if judging == 2 else ""
    right = (
        right or "def area(radius):\n    return 4 * radius\n"
        if "for" not in test
        else "def area(r):\n    return 3 * r\n"
    )
    assert len(run(task, right, JUDGE)) == judging
    assert run(task, right, TESTS) == ["test_1"]
    assert run(task, "def area(radius):\n    return -1\n", TESTS) == []


@pytest.mark.parametrize(
    ("prompt", "module"),
    [
        ("def area(r):", "def area(r):\n    raise NotImplementedError\n"),
        ("def area(r):\n  'doc'\n\nX = 1\n", "def area(r):\n  'doc'\n  raise NotImplementedError\n\nX = 1\n"),
        ("def area(r):\n    return r\n", "def area(r):\n    return r\n"),  # to be changed
    ],
)
def test_what_the_engine_starts_from(prompt, module):
    assert functions.complete_module(prompt, "area") == module


def test_a_solution_may_be_the_whole_function_and_may_be_missing(tmp_path):
    whole = ROW | {"canonical_solution": "def area(radius):\n    return 3 * radius\n", "task_id": "Circles/7"}
    without = {key: value for key, value in ROW.items() if key != "canonical_solution"}
    first, second = functions.load(write(tmp_path, whole, without))
    assert (first.id, first.solution) == (
        "Circles-7",
        {MODULE: "import math\n\n\ndef area(radius):\n    return 3 * radius\n"},
    )
    assert (second.id, second.solution) == ("circles-2", {})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"prompt": None}, "'prompt' must be a text"),
        ({"test": " "}, "'test' must be a text"),
        ({"entry_point": "volume"}, "'prompt' does not define volume at its top"),
        ({"prompt": "def area(:"}, "invalid syntax|not a task"),
        ({"test": "x = 1"}, "'test' has neither"),
        ({"test": "def test(a):\n    assert a"}, "neither parameters nor decorators"),
        ({"canonical_solution": "return 1"}, "'canonical_solution' neither"),
    ],
)
def test_what_is_not_a_task_is_one_sentence(tmp_path, change, why):
    with pytest.raises(UsageError, match=why) as raised:
        functions.load(write(tmp_path, ROW, ROW | change))
    assert str(raised.value).startswith("Line 2 of ")
    assert "prompt, test and entry_point" in raised.value.remedy
    with pytest.raises(UsageError, match="lacks the key 'test'"):
        functions.load(write(tmp_path, {"prompt": PROMPT, "entry_point": "area"}))
