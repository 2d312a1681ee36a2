"""The slow functions of lab/benchmarks/improve.toml: what the hidden calls tell apart, and the tasks made of them."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.improve import FUNCTIONS, PROJECTS, find_function, make_task, with_function, with_statement

SLOW = tomllib.loads(FUNCTIONS.read_text(encoding="utf-8"))["task"]
RECIPES = tomllib.loads(PROJECTS.read_text(encoding="utf-8"))["project"]
TEXT = '''\
import typing


@typing.overload
def f(a: int) -> int: ...


def f(a):
    """Adds one."""
    return a + 1


def g():
    return f(1)
'''


def observe(function: dict[str, Any], version: str) -> list[object]:
    """What a version gives for the hidden calls."""
    names: dict[str, Callable[..., object]] = {}
    exec(function[version], names)
    return [eval(call, names) for call in function["hidden"]]


def test_there_are_at_least_thirty_and_each_has_its_own_name():
    assert len({each["name"] for each in SLOW}) == len(SLOW) >= 30


@pytest.mark.parametrize("function", SLOW, ids=lambda each: each["name"])
def test_the_hidden_calls_tell_the_better_version_from_the_wrong_one(function):
    assert observe(function, "better") == observe(function, "slow")
    assert observe(function, "wrong") != observe(function, "slow")


@pytest.mark.parametrize("kind", ["better", "wrong", "same"])
def test_a_task_shows_one_test_and_is_judged_by_the_hidden_calls_too(kind):
    task = make_task(SLOW[0], kind)
    assert (task.target, task.shown, len(task.cases)) == ("m.py::unique", ["test_m.py::test_unique"], 4)
    assert not {*task.judge} & {*task.files}
    assert task.solution["m.py"] != task.files["m.py"]


def test_a_statement_that_does_nothing_stands_behind_the_docstring():
    added = with_statement(TEXT, "f")
    assert added.splitlines()[9] == "    unused = 0"
    assert ast.get_docstring(find_function(added, "f")) == "Adds one."
    assert added.replace("    unused = 0\n", "") == TEXT


def test_another_version_replaces_the_function_alone():
    new = "def f(a):\n    return 1 + a\n"
    assert with_function(TEXT, "f", f"\n{new}") == TEXT.replace(
        'def f(a):\n    """Adds one."""\n    return a + 1\n', new
    )


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: each["name"])
def test_a_recipe_has_no_code_but_a_version_of_our_own(recipe):
    assert {*recipe} == {"name", "repository", "commit", "function", "test", "calls", "better"}
    name = recipe["function"].rpartition("::")[2]
    assert find_function(recipe["better"], name).name == name
    assert recipe["calls"].startswith(f"{name}(")
