"""Files of instruction tasks, each written for this test."""

from __future__ import annotations

import json

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench import tasks
from greenloop_lab.bench.loaders import functions, instructions

ROW = {
    "prompt": 'def double(n):\n    """Twice the number."""\n',
    "test": "assert double(2) == 4",
    "entry_point": "double",
    "canonical_solution": "    return 2 * n\n",
    "constraints": ["no-imports", "max-lines 5"],
}


def write(tmp_path, *rows):
    path = tmp_path / "told.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_task_has_its_limits_also_when_it_is_read_again(tmp_path):
    (task,) = instructions.load(write(tmp_path, ROW))
    assert (task.kind, task.constraints) == ("instruction, 2 limits", ("no-imports", "max-lines 5"))
    tasks.write([task], tmp_path / "tasks.jsonl")
    (again,) = tasks.read(tmp_path / "tasks.jsonl")
    assert list(again.constraints) == list(task.constraints)
    assert again.digest == task.digest
    (other,) = instructions.load(write(tmp_path, ROW | {"constraints": ["no-imports"]}))
    assert other.digest != task.digest
    (without,) = functions.load(write(tmp_path, ROW))
    assert without.constraints == ()


@pytest.mark.parametrize(
    ("constraints", "why", "remedy"),
    [
        (None, "'constraints' must be a list", "max-lines 20"),
        (["max-line 5"], "no constraint 'max-line 5'", "max-lines"),
        (["max-lines many"], "needs one whole number", "max-lines 20"),
    ],
)
def test_limits_that_do_not_exist_are_one_sentence(tmp_path, constraints, why, remedy):
    with pytest.raises(UsageError, match=why) as raised:
        instructions.load(write(tmp_path, ROW, ROW | {"constraints": constraints}))
    assert str(raised.value).startswith("Line 2 of ")
    assert remedy in raised.value.remedy
