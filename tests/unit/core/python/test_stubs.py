"""Bodies that mean "implement me"."""

from __future__ import annotations

from textwrap import indent

import pytest

from double_problem import PROBLEM
from greenloop.core.python.stubs import is_unwritten, remark_text
from greenloop.core.records.attempt import Attempt, Move
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.prompt import WHOLE, choose_format
from greenloop.drafting.search import ladder
from greenloop.localize import regions

YES = [
    "pass",
    "...",
    "...  # type: ignore",
    '"""Says what it does."""',
    '"""Says what it does."""\n# TODO: write it',
    "raise NotImplementedError",
    'raise NotImplementedError("later") from None',
    'raise NotImplementedError(f"{x} later")',
    "raise NotImplemented",
    "total = 0\nraise NotImplementedError",
    "# TODO: add them\npass",
    "return None  # TODO",
    "return  # fixme(me): write it",
    "# TODO: the median\nreturn None",
    'assert False, "todo"',
    'assert 0, "Not implemented yet"',
    'raise Exception("Not implemented")',
    'raise RuntimeError("TODO: write this")',
    "# TODO only a comment",
]
NO = [
    "return None",
    "return",
    "return 0  # TODO: negative numbers",
    "return x  # TODO: faster",
    "assert False",
    'assert x, "todo"',
    'raise ValueError("too small")',
    "if x:\n    raise NotImplementedError\nreturn 1",
    "print(x)\nraise NotImplementedError",
    "# TODO: faster\nreturn x + 1",
    "return x +",
    "'todo'\n'more'\nx()",
]


def source(body: str, margin: str = "") -> str:
    return indent(f"def f(x):\n{indent(body, '    ')}\n", margin)


@pytest.mark.parametrize("body", YES)
def test_a_body_that_means_implement_me(body):
    assert is_unwritten(source(body))
    assert is_unwritten(source(body, "    "))
    assert is_unwritten(source(body, "\t").replace("\n", "\r\n"))


@pytest.mark.parametrize("body", NO)
def test_a_body_that_is_code(body):
    assert not is_unwritten(source(body))
    assert not is_unwritten(source(body, "    "))


def test_a_class_is_not_a_place_for_code():
    assert not is_unwritten("class A:\n    pass\n")
    assert not is_unwritten("class A:\n    def f(self):\n        pass\n\n    def g(self):\n        return 1\n")
    assert not is_unwritten("")


def test_a_class_of_stubs_is_to_be_written():
    assert is_unwritten("class A:\n    n = 1\n\n    def f(self):\n        pass\n\n    def g(self): ...\n")


@pytest.mark.parametrize("body", [*YES, *NO])
def test_search_regions_and_the_form_of_answers_agree(body):
    text = source(body)
    region = Region(path="m.py", qualname="f", start=1, end=text.count("\n"))
    problem = Problem(root=PROBLEM.root, spec=Spec(), regions=(region,), originals={"m.py": text}, files={"m.py": text})
    baseline = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
    assert regions.is_unwritten(region, problem.files.get) == is_unwritten(text)
    assert (choose_format("search-replace", problem, 1000) == WHOLE) == is_unwritten(text)
    if body != "return x +":
        assert (ladder.plan(problem, [baseline])[0].move is Move.DRAFT) == is_unwritten(text)


def test_code_that_cannot_be_read_is_written_anew():
    text = source("return x +")
    region = Region(path="m.py", qualname="f", start=1, end=2)
    problem = Problem(root=PROBLEM.root, spec=Spec(), regions=(region,), originals={"m.py": text}, files={"m.py": text})
    baseline = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
    first, *_ = ladder.plan(problem, [baseline])
    assert first.move is Move.MUTATE  # one character may be wrong
    tried = Attempt(number=1, parent=0, draft=first, verdict=Verdict(status=Status.REFUSED))
    assert ladder.plan(problem, [baseline, tried])[0].move is Move.DRAFT


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("# TODO: the median\n# of all of them\npass\n# a note", "the median of all of them"),
        ("return None  # FIXME(ann) - round up", "round up"),
        ("#TODO sum\n\n# todo: then halve\npass", "sum\nthen halve"),
        ("pass  # TODO", ""),
        ('"""# TODO: in a string"""', ""),
        ("# nothing to do\npass", ""),
        ("# TODO: broken\nreturn (", "broken"),
    ],
)
def test_what_todo_comments_say(body, said):
    assert remark_text(source(body, "    ")) == said


def test_todo_and_review_comments_are_what_is_asked_for():
    text = (
        "def f(x):\n    # TODO: handle None\n    #       and NaN\n    y = x  # review: too slow\n"
        "    # reviewed by me\n    # a note\n    # FIXME(me) use a loop\n    return '# TODO: no comment'\n"
    )
    assert remark_text(text) == "handle None and NaN\ntoo slow reviewed by me a note\nuse a loop"
    assert remark_text("def f(x):\n    # preview: x\n    # reviewing is fun\n    return x\n") == ""
