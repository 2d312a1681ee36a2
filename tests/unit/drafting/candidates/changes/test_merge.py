"""Two candidates, and the one that has the changes of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.drafting.candidates.changes.merge import lay_over, merge, merges

SOURCE = "def f(a):\n    a += 1\n    b = a\n    c = b\n    return c\n\n\ndef g():\n    return 1\n"
F = Region(path="m.py", qualname="f", start=1, end=5)
G = Region(path="m.py", qualname="g", start=8, end=9)
PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=(F,), originals={}, files={"m.py": SOURCE})
OWN = "def f(a):\n    a += 1\n    b = a\n    c = b\n    return c\n"


def of(text: str, region: Region = F, **more) -> Candidate:
    return Candidate(texts={region: text}, **more)


def test_changes_of_two_functions():
    merged = merge(PROBLEM, of(OWN.replace("1", "2"), imports=("import os",)), of("def g():\n    return 2\n", G))
    assert merged == Candidate(
        texts={F: OWN.replace("1", "2"), G: "def g():\n    return 2\n"}, imports=("import os",), helpers=()
    )


def test_changes_of_different_lines_of_one_function():
    merged = merge(PROBLEM, of(OWN.replace("1", "2")), of(OWN.replace("return c", "return -c")))
    assert merged is not None
    assert merged.texts == {F: OWN.replace("1", "2").replace("return c", "return -c")}


@pytest.mark.parametrize(
    "second",
    [
        of(OWN.replace("1", "3")),  # the same line
        of(OWN.replace("1", "2")),  # the same change
        of("class K:\n    pass\n", Region(path="m.py", qualname="K", start=4, end=9)),  # a place that overlaps
    ],
)
def test_what_cannot_be_merged_or_is_nothing_new_is_none(second):
    assert merge(PROBLEM, of(OWN.replace("1", "2")), second) is None


def test_changes_of_a_common_base_count_where_only_one_has_them():
    base = {F: OWN.replace("1", "2"), G: "def g():\n    return 3\n"}
    first = Candidate(texts={**base, F: OWN.replace("1", "3")})
    second = Candidate(texts={**base, G: "def g():\n    return 4\n"})
    assert merge(PROBLEM, first, second) is None
    merged = merge(PROBLEM, first, second, Candidate(texts=base))
    assert merged is not None
    assert merged.texts == {F: first.texts[F], G: second.texts[G]}


def test_an_answer_about_one_function_is_laid_over_what_is_there():
    lower = Candidate(
        texts={F: OWN, G: "def g():\n    return 2\n"}, imports=("import os",), helpers=("def h():\n    return 1",)
    )
    upper = of("def g():\n    return h()\n", G, imports=("import re",), helpers=("def h():\n    return 2",))
    assert lay_over(lower, upper) == Candidate(
        texts={F: OWN, G: "def g():\n    return h()\n"},
        imports=("import os", "import re"),
        helpers=("def h():\n    return 2",),
    )


def test_what_overlaps_an_answer_gives_way_to_it():
    whole = Region(path="m.py", qualname="whole", start=F.start, end=G.end)
    text = f"{OWN}\n\ndef g():\n    return 3\n"
    assert lay_over(of(OWN), of(text, whole)).texts == {whole: text}


def test_where_changes_touch_statements_of_one_are_put_into_the_other():
    guard = "def f(a):\n    if a is None:\n        return 0\n    return a\n"
    loop = "def f(a):\n    a = abs(a)\n    return a * 2\n"
    first, second = of(guard, helpers=("X = 1",)), of(loop, imports=("import os",), helpers=("X = 2", "Y = 1"))
    found = list(merges(PROBLEM, first, second))
    assert merge(PROBLEM, first, second) is None
    texts = [each.texts[F] for each in found]
    assert guard.replace("return a\n", "return a * 2\n") in texts
    assert guard not in texts
    assert loop not in texts
    assert {each.imports for each in found} == {("import os",)}
    assert {each.helpers for each in found} == {("X = 1", "Y = 1")}


def test_a_merge_by_lines_stands_alone():
    first, second = of(OWN.replace("1", "2")), of(OWN.replace("return c", "return -c"))
    assert list(merges(PROBLEM, first, second)) == [merge(PROBLEM, first, second)]


def test_what_another_function_needs_goes_along_with_the_statements():
    second = Candidate(
        texts={F: OWN.replace("a += 1", "a += 2").replace("c = b", "c = g()"), G: "def g():\n    return 2\n"}
    )
    found = list(merges(PROBLEM, of(OWN.replace("a += 1", "a += 3")), second))
    assert [each.texts for each in found] == [
        {F: OWN.replace("a += 1", "a += 2"), G: second.texts[G]},
        {F: OWN.replace("a += 1", "a += 3").replace("c = b", "c = g()"), G: second.texts[G]},
    ]
