"""Two candidates, and the one that has the changes of both."""

from __future__ import annotations

import pytest

from greenloop.core.records.attempt import Candidate
from greenloop.core.records.spec import Region
from greenloop.drafting.candidates.changes.change import lay_over, merge

F = Region(path="m.py", qualname="f", start=1, end=5)
G = Region(path="m.py", qualname="g", start=8, end=9)
OWN = "def f(a):\n    a += 1\n    b = a\n    c = b\n    return c\n"


def of(text: str, region: Region = F, **more) -> Candidate:
    return Candidate(texts={region: text}, **more)


def test_changes_of_two_functions():
    merged = merge(of(OWN.replace("1", "2"), imports=("import os",)), of("def g():\n    return 2\n", G))
    assert merged == Candidate(
        texts={F: OWN.replace("1", "2"), G: "def g():\n    return 2\n"}, imports=("import os",), helpers=()
    )


@pytest.mark.parametrize(
    "second",
    [
        of(OWN.replace("1", "3")),  # the same function
        of(OWN.replace("1", "2")),  # the same change
        of("class K:\n    pass\n", Region(path="m.py", qualname="K", start=4, end=9)),  # a place that overlaps
    ],
)
def test_what_cannot_be_merged_or_is_nothing_new_is_none(second):
    assert merge(of(OWN.replace("1", "2")), second) is None


def test_changes_of_a_common_base_count_where_only_one_has_them():
    base = {F: OWN.replace("1", "2"), G: "def g():\n    return 3\n"}
    first = Candidate(texts={**base, F: OWN.replace("1", "3")})
    second = Candidate(texts={**base, G: "def g():\n    return 4\n"})
    assert merge(first, second) is None
    merged = merge(first, second, Candidate(texts=base))
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
