"""Recipes of version-pinned tasks, each written for this test."""

from __future__ import annotations

import json

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench.loaders import versions
from greenloop_lab.bench.mbpp import MODULE
from wheels import make_wheel

RECIPE = """
[[environments]]
name = "shapes 1"
wheels = "one"

[[environments]]
name = "shapes 2"
interpreter = "two/python"

[[tasks]]
task_id = "area"
entry_point = "area"
prompt = '''
import shapes

def area(side):
    "The area of a square, by shapes."
'''
test = "assert area(2) == 4"
solutions."shapes 1" = "    return shapes.square(side)"
solutions."shapes 2" = "    return shapes.Square(side).area"

[[tasks]]
entry_point = "area"
prompt = "def area(side):"
test = "assert area(3) == 9"
environments = ["shapes 2"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "one").mkdir()
    make_wheel(
        tmp_path / "one", {"shapes.py": "def square(side):\n    return side * side\n"}, "shapes-1-py3-none-any.whl"
    )
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "python").touch()
    return tmp_path


def write(folder, text, name="recipe.toml"):
    (folder / name).write_text(text)
    return folder / name


def test_a_function_is_a_task_for_each_version(folder):
    first, second, third = versions.load(write(folder, RECIPE))
    assert [task.id for task in (first, second, third)] == ["area-shapes-1", "area-shapes-2", "recipe-2-shapes-2"]
    assert [task.kind for task in (first, second)] == ["version: shapes 1", "version: shapes 2"]
    assert first.interpreter.startswith(str(folder / "cache"))
    assert second.interpreter == str(folder / "two" / "python")
    assert "shapes.square(side)" in first.solution[MODULE]
    assert "shapes.Square(side)" in second.solution[MODULE]
    assert first.files == second.files
    assert third.solution == {}


def test_json_lines_say_the_same(folder):
    rows = [
        {"name": "shapes 2", "interpreter": "two/python"},
        {"prompt": "def area(side):", "test": "assert area(3) == 9", "entry_point": "area"},
    ]
    (task,) = versions.load(write(folder, "\n".join(map(json.dumps, rows)), "recipe.jsonl"))
    assert (task.id, task.interpreter) == ("recipe-2-shapes-2", str(folder / "two" / "python"))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('wheels = "one"', "", "Environment 1 of .* needs either"),
        ('wheels = "one"', 'wheels = "none"', "There is no wheel in"),
        ("two/python", "two/snake", "There is no interpreter .*two/snake"),
        ('name = "shapes 1"', "", "Environment 1 of .* has no name"),
        ('environments = ["shapes 2"]', 'environments = ["shapes 3"]', "environment 'shapes 3', which is not in it"),
        ('prompt = "def area(side):"', "", "Line 2 of .* lacks the key 'prompt'"),
        ("[[environments]]", "[[places]]", "names no environment"),
        ("[[tasks]]", "[[tasks", "is not TOML"),
    ],
)
def test_what_is_wrong_in_a_recipe_is_one_sentence(folder, old, new, why):
    assert old in RECIPE
    with pytest.raises(UsageError, match=why) as raised:
        versions.load(write(folder, RECIPE.replace(old, new)))
    assert raised.value.remedy
