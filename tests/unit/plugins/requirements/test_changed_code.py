"""The code of a candidate in a composed file, and the line of its name."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.requirements import name_line
from greenloop.plugins.requirements.changed_code import find_changed_code

DECORATED = "@cache\n@other\ndef f(x):\n    return 1\n"
DECORATED_F = Region(path="m.py", qualname="f", start=1, end=4)


def problem(region: Region, text: str) -> Problem:
    return Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals={"m.py": text}, files={"m.py": text})


def test_the_second_of_two_definitions_of_one_name_is_its_own_region():
    text = "def f(x):\n    return eval(x)\n\n\ndef f(x):\n    return 1\n"
    second = Region(path="m.py", qualname="f", start=5, end=6)
    own = problem(second, text)
    found = find_changed_code(own, second, compose(own, Candidate(texts={second: "def f(x):\n    return 2\n"})))
    assert found.changed_node.lineno == 5
    assert name_line(own, second) == 5


def test_the_line_of_the_name_is_below_the_decorators():
    assert name_line(problem(DECORATED_F, DECORATED), DECORATED_F) == 3
