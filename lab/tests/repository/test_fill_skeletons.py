"""The skeletons of lab/benchmarks/fill.toml: their solutions pass every test, they themselves none."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from greenloop.project.syntax.definitions import unwritten_functions

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.fill import SKELETONS, find_class, find_tests, make_task, read_modules

ROWS = tomllib.loads(SKELETONS.read_text(encoding="utf-8"))["task"]
WRITTEN = [row for row in ROWS if "skeleton" in row]
SINGLE = [row for row in WRITTEN if isinstance(row["skeleton"], str)]


@pytest.fixture(params=ROWS, ids=lambda row: row["name"])
def row(request) -> dict[str, Any]:
    return request.param


@pytest.fixture
def passing(row, monkeypatch):
    """`passing(version, key)`: the names of the tests of `key` that pass with the skeleton or the solution."""

    def run(version: str, key: str) -> list[str]:
        for path in read_modules(row, "solution"):
            monkeypatch.delitem(sys.modules, path.removesuffix(".py"), raising=False)
        for path, text in read_modules(row, version).items():
            module = ModuleType(path.removesuffix(".py"))
            monkeypatch.setitem(sys.modules, module.__name__, module)
            exec(compile(text, path, "exec"), module.__dict__)
        names: dict[str, Any] = {}
        try:
            exec(row[key], names)
        except ModuleNotFoundError:  # a task without a skeleton
            return []
        return [name for name in find_tests(row[key]) if passes(names[name])]

    return run


def passes(test) -> bool:
    try:
        test()
    except (Exception, pytest.fail.Exception):  # noqa: BLE001 - a test fails by whatever it raises
        return False
    return True


def test_there_are_twenty_classes_five_tasks_of_several_modules_and_two_of_tests_alone():
    assert len({row["name"] for row in ROWS}) == len(ROWS)
    assert (len(SINGLE), len(WRITTEN), len(ROWS)) == (20, 25, 27)


@pytest.mark.parametrize("key", ["shown", "hidden"])
def test_a_solution_passes_every_test_and_its_skeleton_none(row, passing, key):
    names = find_tests(row[key])
    assert len(set(names)) == len(names) >= 3
    assert passing("solution", key) == names
    assert passing("skeleton", key) == []


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row["name"])
def test_a_skeleton_has_functions_to_write_and_its_solution_has_none(row):
    skeleton, solution = read_modules(row, "skeleton"), read_modules(row, "solution")
    assert list(skeleton) == list(solution)
    assert not any(map(unwritten_functions, solution.values()))
    counts = [len(unwritten_functions(text)) for text in skeleton.values()]
    assert all(counts)
    assert len(counts) > 1 or 3 <= counts[0] <= 7


def test_hidden_tests_are_laid_over_for_the_judge_alone(row):
    task = make_task(row)
    assert not {*task.judge} & {*task.files}
    assert {*task.shown} < {*task.cases}
    assert task.target in task.files


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("class A:\n    def f(self): ...\n\n\nclass B:\n    pass\n", "m.py::A"),
        ("class A:\n    def f(self): ...\n\n\nclass B:\n    def f(self): ...\n", "m.py"),
        ("class A:\n    def f(self): ...\n\n\ndef g(): ...\n", "m.py"),
    ],
)
def test_the_target_is_the_only_unwritten_class_or_the_module(text, target):
    assert find_class("m.py", text) == target
