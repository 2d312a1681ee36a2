"""A changed text as regions: the functions around its changes, single lines elsewhere; composed, it is the text again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.drafting.candidates.answers.changed_regions import changed_regions, with_file

CODE = """\
import os

LIMIT = 3


class Basket:
    size = 1

    @property
    def total(self):
        return self.size

    def add(self, item):
        def inner():
            return item

        return inner


def tax(kind):
    return kind
"""
PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=(), originals={"m.py": CODE}, files={"m.py": CODE})


def names(new, old=CODE, path="m.py"):
    return [(region.qualname, region.start, region.end) for region in changed_regions(path, old, new)]


@pytest.mark.parametrize(
    ("old", "new", "regions"),
    [
        ("return kind\n", "return kind + 1\n", [("tax", 20, 21)]),
        ("return item\n", "return [item]\n", [("Basket.add", 13, 17)]),
        ("return inner\n", "return inner()\n", [("Basket.add", 13, 17)]),
        ("    @property\n", "", [("Basket.total", 9, 11)]),
        ("def tax(kind):", "def tax(kind, year):", [("tax", 20, 21)]),
        ("def tax(kind):", "def rate(kind):", [("", 20, 20)]),
        ("LIMIT = 3", "LIMIT = 4", [("", 3, 3)]),
        ("import os\n", "import os\nimport re\n", [("", 2, 1)]),
        ("    size = 1", "    size = 2", [("", 7, 7)]),
        ("    return kind\n", "    return kind\n\n\ndef new():\n    pass\n", [("", 22, 21)]),
        ("def tax(kind):\n    return kind\n", "", [("", 20, 21)]),
        ("    return kind\n", "    return (\n", [("", 21, 21)]),
        ("", "", []),
    ],
)
def test_regions_around_changes(old, new, regions):
    assert names(CODE.replace(old, new) if old else CODE) == regions


def test_two_changes_of_one_function_are_one_region():
    text = CODE.replace("def inner()", "def other()").replace("return inner\n", "return other\n")
    assert names(text) == [("Basket.add", 13, 17)]


def test_other_files_have_lines_only():
    assert names('{"a": 2}\n', '{"a": 1}\n', "m.json") == [("", 1, 1)]
    assert names("x = 1\n", "", "new.py") == [("", 1, 0)]


LINES = st.sampled_from([*CODE.splitlines(), "x = 1", "    return 0", "def f():", "class A:", "(", '"""', "@p", ""])


@given(
    st.integers(min_value=0, max_value=CODE.count("\n")),
    st.integers(min_value=0, max_value=6),
    st.lists(LINES, max_size=5),
    st.integers(min_value=0, max_value=CODE.count("\n")),
    st.lists(LINES, max_size=2),
)
def test_composed_regions_are_the_new_text(start, length, new, at, more):
    rows = CODE.split("\n")[:-1]
    rows[start : start + length] = new
    rows[at:at] = more
    text = "".join(f"{row}\n" for row in rows)
    candidate = Candidate(texts=changed_regions("m.py", CODE, text))
    assert compose(PROBLEM, candidate).get("m.py", CODE) == text


def test_a_file_of_the_workspace_becomes_known_once():
    known = with_file(PROBLEM, "new.json", None)
    assert (known.originals["new.json"], known.files["new.json"]) == (None, "")
    assert with_file(known, "new.json", "{}") is known
    assert with_file(PROBLEM, "m.py", "other") is PROBLEM
