"""Attributes that all objects of a class share."""

from __future__ import annotations

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.checks.gate import check
from greenloop.plugins.repairs.shared_attributes import own_attributes


def shared(text, line, name="C.x", *, assigns=True):
    region = Region(path="m.py", qualname=name, start=line, end=line, assigns=assigns)
    texts = {"m.py": text}
    return Problem(
        root="/w", spec=Spec(cases=(), selectors=()), regions=(region,), originals=texts, files=texts
    ), region


OWN = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
INHERITED = "def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "class C:\n    x = []\n    def f(self):\n        pass\n",
            "class C:\n    def __init__(self):\n        self.x = []\n\n    def f(self):\n        pass\n",
        ),
        (
            "class C(B):\n    x: dict[str, int] = {}\n\n    y = 1\n",
            f"class C(B):\n    {INHERITED}\n        self.x = {{}}\n\n    y = 1\n",
        ),
        (
            'class C:\n  x = deque()\n  def __init__(self, y):\n    """Doc."""\n    self.y = y\n',
            'class C:\n  x: deque\n  def __init__(self, y):\n    """Doc."""\n    self.x = deque()\n    self.y = y\n',
        ),
    ],
)
def test_each_object_makes_its_own(text, wanted):
    problem, region = shared(text, 2)
    (candidate,) = own_attributes(problem, region, OWN)
    files = compose(problem, candidate)
    assert files == {"m.py": wanted}
    assert check(problem, candidate, files) is None


@pytest.mark.parametrize(
    ("value", "factory"), [("[]", "list"), ("set()", "set"), ("[1]", "lambda: [1]"), ("{'a': 1}", "lambda: {'a': 1}")]
)
def test_a_field_of_a_dataclass_has_a_factory(value, factory):
    head = "@dataclasses.dataclass(slots=True)\nclass C:\n    x: "
    problem, region = shared(f"{head}list = {value}\n", 3)
    (candidate,) = own_attributes(problem, region, OWN)
    (text,) = compose(problem, candidate).values()
    assert text == f"from dataclasses import field\n\n\n{head}list = field(default_factory={factory})\n"


@pytest.mark.parametrize(
    ("text", "line", "name", "assigns"),
    [
        ("class C:\n    x = ()\n", 2, "C.x", True),
        ("class C:\n    x: list\n", 2, "C.x", True),
        ("x = []\n", 1, "x", True),
        ("class C:\n    def x(self): return []\n", 2, "C.x", False),
        ("class C:\n    x = []\n    def __init__(self): pass\n", 2, "C.x", True),
    ],
)
def test_other_code_stays(text, line, name, assigns):
    problem, region = shared(text, line, name, assigns=assigns)
    assert not list(own_attributes(problem, region, OWN))
