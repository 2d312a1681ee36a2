"""Answers that may change what is beside the regions, and answers about other code of the same file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.drafting.candidates.answers.parse_answer import read
from greenloop.drafting.candidates.checks.gate import check

SHOP = '''\
"""A shop."""

RATES = {"pen": 19}


class Basket:
    limit = 2
    kind = "a"

    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)

    def count(self):
        return len(self.items)


def tax(kind):
    return RATES[kind]


def total(items):
    return sum(items)
'''
TESTS = "def test_tax():\n    assert tax('pen') == 19\n"
FILES = {"shop.py": SHOP, "test_shop.py": TESTS, "other.py": "def total(items):\n    return 0\n"}


def region(name: str, start: int, end: int, *, assigns: bool = False) -> Region:
    return Region(path="shop.py", qualname=name, start=start, end=end, assigns=assigns)


ADD, TOTAL, LIMIT = region("Basket.add", 13, 14), region("total", 24, 25), region("Basket.limit", 7, 7, assigns=True)
NARROW = Problem(root=Path("/w"), spec=Spec(), regions=(ADD,), originals=FILES, files=FILES)
OPEN = replace(NARROW, open=True)


def changed(problem: Problem, *codes: str) -> str:
    """The lines of the shop that the answer adds, or why it is none."""
    found = read("\n".join(f"```python\n{code}\n```" for code in codes), problem)
    if isinstance(found, Finding):
        return found.error_class
    texts = compose(problem, found)
    finding = check(problem, found, texts)
    if finding:
        return finding.error_class
    assert set(texts) <= {"shop.py", "other.py"}
    return "".join(line for line in texts["shop.py"].splitlines(keepends=True) if line not in SHOP)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("RATES = {'pen': 20}", "RATES = {'pen': 20}\n"),
        ("class Basket:\n    limit = 3", "    limit = 3\n"),
        ("def tax(kind):\n    return RATES[kind] + 1", "    return RATES[kind] + 1\n"),
        ("class Basket:\n    def count(self):\n        return 1", "        return 1\n"),
        (
            SHOP.replace("sum(items)", "max(items)").replace("limit = 2", "limit = 5"),
            "    limit = 5\n    return max(items)\n",
        ),
    ],
)
def test_an_open_problem_lets_an_answer_change_what_is_beside_the_regions(code, expected):
    assert changed(OPEN, code) == expected


def test_what_only_repeats_the_users_code_is_no_change():
    found = read(f"```python\n{SHOP.replace('sum(items)', 'max(items)')}\n```", OPEN)
    assert isinstance(found, Candidate)
    assert [each.qualname for each in found.texts] == ["total"]
    assert changed(OPEN, SHOP) == "Unchanged"


def test_the_region_and_other_code_change_together():
    code = "class Basket:\n    limit = 9\n\n    def add(self, item):\n        self.items += [item]"
    assert changed(OPEN, code) == "    limit = 9\n        self.items += [item]\n"
    assert changed(NARROW, code) == "        self.items += [item]\n"


def test_new_methods_and_attributes_go_into_their_class():
    code = "class Basket:\n    mark = 1\n\n    def width(self):\n        return 2"
    found = read(f"```python\n{code}\n```", OPEN)
    assert isinstance(found, Candidate)
    text = compose(OPEN, found)["shop.py"]
    assert "    mark = 1\n\n    def __init__(self):\n" in text
    assert "        return len(self.items)\n\n    def width(self):\n        return 2\n\n\ndef tax" in text


def test_a_name_that_two_files_have_is_no_place():
    two = replace(OPEN, regions=(ADD, Region(path="other.py", qualname="missing", start=1, end=2)))
    assert changed(two, "def total(items):\n    return 5") == "WrongFunction"


def test_an_answer_about_other_code_of_the_file_is_tried_there_and_one_about_a_test_is_not():
    assert changed(NARROW, "def total(items):\n    return 5") == "    return 5\n"
    assert changed(NARROW, "def test_tax():\n    pass") == "WrongFunction"
    assert changed(NARROW, "def total(items):\n    return 5", "def tax(kind):\n    return 6") == "    return 5\n"


def test_an_assignment_is_a_region():
    problem = replace(NARROW, regions=(LIMIT,))
    assert changed(problem, "limit = 4") == "    limit = 4\n"
    assert changed(problem, "class Basket:\n    limit: int = 4  # more") == "    limit: int = 4  # more\n"
    assert changed(problem, "limit = 2") == "Unchanged"
    assert changed(problem, "class Basket:\n    @property\n    def limit(self):\n        return 4") == (
        "    @property\n    def limit(self):\n        return 4\n"
    )
    assert changed(problem, "limit = missing_name") == "UndefinedName"


def test_the_question_shows_the_suspects_that_follow():
    problem = replace(NARROW, suspects=(TOTAL, LIMIT), places=2)
    first = problem.opened(())
    assert (first.regions, first.suspects, first.open) == ((ADD, TOTAL), (LIMIT,), True)
    assert problem.opened((TOTAL,)).regions == (TOTAL, LIMIT)
    assert problem.opened((LIMIT,)).regions == (LIMIT,)
    narrow = replace(problem, places=0)
    assert narrow.opened((TOTAL,)) == narrow.focused((TOTAL,))
    assert first.question != problem.question


@pytest.mark.parametrize("is_open", [False, True])
def test_a_method_of_a_class_in_another_file_is_not_taken_for_one_of_the_same_name(is_open):
    special = (
        "from shop import Basket\n\n\nclass Special(Basket):\n    def add(self, item):\n        super().add(item)\n"
    )
    files = {**FILES, "special.py": special}
    other = Region(path="special.py", qualname="Special.add", start=5, end=6)
    problem = replace(NARROW, regions=(ADD, other), originals=files, files=files, open=is_open)
    answer = "```python\nclass Special(Basket):\n    def add(self, item):\n        super().add([item])\n```"
    found = read(answer, problem)
    assert isinstance(found, Candidate)
    assert [each.qualname for each in found.texts] == ["Special.add"]


@pytest.mark.parametrize(
    ("code", "added"),
    [
        (
            "class Basket:\n    limit = 3\n\n    def add(self, item):\n        self.items.append(item)",
            "    limit = 3\n",
        ),
        ("RATES = {'pen': 7}\n\ndef add(self, item):\n    self.items.append(item)", "RATES = {'pen': 7}\n"),
    ],
)
def test_what_is_beside_a_repeated_function_is_the_answer(code, added):
    assert changed(NARROW, code) == added


def test_beside_the_one_function_that_may_change_nothing_does():
    code = "RATES = {'pen': 7}\n\ndef add(self, item):\n    self.items.append(item)"
    assert changed(replace(NARROW, exact=True), code) in ("", "Unchanged")


def test_new_attributes_of_a_repeated_functions_class_are_the_answer():
    code = "class Basket:\n    most = 3\n\n    def add(self, item):\n        self.items.append(item)"
    assert "    most = 3\n" in changed(NARROW, code)


STUBBED = """\
class C:
    def __init__(self, a):
        self.a = a

    @property
    def total(self):
        raise NotImplementedError("total")
"""
BARE_CLASS = 'class C:\n    x = 1\n\n    @property\n    def total(self):\n        raise NotImplementedError("total")\n'


def filled(text: str, code: str) -> str:
    """The file with what the answer has in place of the stub of a property."""
    rows = text.splitlines()
    at = rows.index("    @property") + 1
    stub = Region(path="m.py", qualname="C.total", start=at, end=at + 2, created=True)
    files = {"m.py": text}
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(stub,), originals={"m.py": ""}, files=files)
    candidate = read(f"```python\n{code}\n```", problem)
    assert isinstance(candidate, Candidate)
    composed = compose(problem, candidate)
    assert check(problem, candidate, composed) is None
    return composed["m.py"]


def test_an_attribute_may_be_set_by_the_constructor_in_place_of_a_property():
    code = "class C:\n    def __init__(self, a):\n        self.a = a\n        self.total = 0\n"
    assert filled(STUBBED, code) == code


def test_a_new_constructor_may_set_the_attribute():
    code = "class C:\n    x = 1\n\n    def __init__(self):\n        self.total = 0\n"
    assert filled(BARE_CLASS, code) == code


def test_a_class_attribute_may_stand_in_place_of_a_property():
    assert filled(BARE_CLASS, "class C:\n    x = 1\n    total = 0\n") == "class C:\n    x = 1\n\n    total = 0\n"


def test_an_edit_that_leaves_the_stub_beside_the_new_method_fills_the_stub():
    added = "    def total(self):\n        return self.a\n\n    @property\n    def total(self):"
    code = STUBBED.replace("    @property\n    def total(self):", added)
    assert filled(STUBBED, code).count("NotImplementedError") == 0


def test_a_class_that_changes_as_a_whole_gets_its_members_once():
    text = "class C:\n    x: int\n\n    def f(self):\n        return self.x\n"
    files = {"m.py": text}
    region = Region(path="m.py", qualname="C", start=1, end=5)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals=files, files=files, open=True)
    answer = text.replace("x: int", "x: int\n    y: int") + "\n    def g(self):\n        return self.y\n"
    candidate = read(f"```python\n{answer}```", problem)
    assert isinstance(candidate, Candidate)
    assert compose(problem, candidate) == {"m.py": answer}
