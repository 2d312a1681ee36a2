"""Bases and decorators that an answer gives to classes of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.drafting.candidates.answers.parse_answer import read
from greenloop.drafting.candidates.checks.gate import check

MODULE = """\
from b import Animal, tagged


class Dog{}:
    \"\"\"A dog.\"\"\"

    legs = 4

    def bark(self):
        return self.name() + " woof"


class Closed(Exception): pass
"""
BARK = '    def bark(self):\n        return self.name() + " woof"\n'


def changed(code: str, bases: str = "") -> str:
    """The file after an answer about `Dog.bark`."""
    text = MODULE.format(bases)
    files = {"m.py": text}
    region = Region(path="m.py", qualname="Dog.bark", start=9, end=10)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals=files, files=files)
    candidate = read(f"```python\n{code}\n```", problem, wide=True)
    assert isinstance(candidate, Candidate)
    composed = compose(problem, candidate)
    assert check(problem, candidate, composed) is None
    return composed["m.py"]


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        ("", f"class Dog(Animal):\n{BARK}", "class Dog(Animal):"),
        ("(object)", f"class Dog(Animal, metaclass=type):\n{BARK}", "class Dog(Animal, metaclass=type):"),
        ("", f"@tagged\nclass Dog:\n{BARK}", "@tagged\nclass Dog:"),
        ("(object)", f"@tagged\nclass Dog:\n{BARK}", "@tagged\nclass Dog(object):"),
    ],
)
def test_a_class_gets_other_bases_and_decorators_and_keeps_its_own(before, code, after):
    assert changed(code, before) == MODULE.format(before).replace(f"class Dog{before}:", after)


def test_a_method_changes_with_its_class():
    text = changed(f"class Dog(Animal):\n{BARK.replace('woof', 'WOOF')}")
    assert text == MODULE.format("(Animal)").replace("woof", "WOOF")


def test_a_class_of_one_line_gets_another_base():
    text = changed("class Closed(ValueError):\n    pass\n\n\nclass Dog:\n" + BARK.replace("woof", "WOOF"))
    assert "\nclass Closed(ValueError): pass\n" in text


def test_a_class_without_members_gets_those_of_the_answer():
    members = "    def __init__(self, key):\n        self.key = key\n"
    text = changed(f"class Closed(Exception):\n{members}\n\nclass Dog:\n{BARK.replace('woof', 'WOOF')}")
    assert text == MODULE.format("").replace("woof", "WOOF").replace(
        "class Closed(Exception): pass\n", f"class Closed(Exception):\n{members}"
    )


def test_a_docstring_stays_where_members_are_added():
    files = {"m.py": 'class Closed(Exception):\n    """No more."""\n\n\ndef f():\n    return 1\n'}
    region = Region(path="m.py", qualname="f", start=5, end=6)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals=files, files=files)
    answer = "class Closed(Exception):\n  code = 1\n\n\ndef f():\n  return Closed.code\n"
    candidate = read(f"```python\n{answer}```", problem, wide=True)
    assert isinstance(candidate, Candidate)
    assert compose(problem, candidate) == {
        "m.py": 'class Closed(Exception):\n    """No more."""\n    code = 1\n\n\ndef f():\n    return Closed.code\n'
    }


def test_fields_that_the_answer_leaves_out_stay():
    text = "class P(Base):\n    x: int\n\n\ndef f():\n    return 1\n"
    files = {"m.py": f"from b import Base\n\n\n{text}"}
    region = Region(path="m.py", qualname="f", start=8, end=9)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals=files, files=files)
    answer = 'class P(Base):\n    """A point."""\n    y: int\n\n\ndef f():\n    return P\n'
    candidate = read(f"```python\n{answer}```", problem, wide=True)
    assert isinstance(candidate, Candidate)
    assert compose(problem, candidate) == {
        "m.py": "from b import Base\n\n\nclass P(Base):\n    x: int\n    y: int\n\n\ndef f():\n    return P\n"
    }
