"""When an answer is recognised as the user's own function, while it is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.engine.loop.questions import is_copy

SOURCE = '''def f(a):
    """Doubles.

    Always.
    """
    if a is None:
        return 0

    b = a * 3  # three
    return b
'''
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(Case(id="t", path="t.py", line=1),), selectors=("t",)),
    regions=(Region(path="m.py", qualname="f", start=1, end=10),),
    originals={"m.py": SOURCE},
    files={"m.py": SOURCE},
    suspicion={"m.py": {1: 0.1, 6: 0.9, 7: 0.9, 9: 0.2}},
)
BARE = SOURCE.replace(SOURCE[SOURCE.index('    """') : SOURCE.index("    if")], "")


def answer(text: str, lines: int) -> str:
    return "Here it is:\n```python\nimport math\n\n" + "".join(text.splitlines(keepends=True)[:lines])


def test_a_copy_is_recognised_after_the_suspicious_lines():
    assert not is_copy(PROBLEM, answer(SOURCE, 6))
    assert is_copy(PROBLEM, answer(SOURCE, 7))


def test_a_docstring_that_is_left_out_makes_no_difference():
    assert not is_copy(PROBLEM, answer(BARE, 2))
    assert is_copy(PROBLEM, answer(BARE, 3))


@pytest.mark.parametrize("change", [("is None", "== None"), ("return 0", "return 1"), ("def f(a)", "def f(b)")])
def test_a_change_in_the_suspicious_lines_is_an_answer(change):
    assert not is_copy(PROBLEM, answer(SOURCE.replace(*change), 10) + "```")


def test_without_suspicion_the_whole_function_is_awaited():
    unknown = replace(PROBLEM, suspicion={})
    assert not is_copy(unknown, answer(SOURCE, 9))
    assert is_copy(unknown, answer(SOURCE, 10))


def test_an_unfinished_line_and_text_without_code_are_no_copy():
    assert not is_copy(PROBLEM, answer(SOURCE, 7).rstrip("\n"))
    assert not is_copy(PROBLEM, SOURCE)


def test_answers_about_several_functions_are_read_to_the_end():
    two = replace(PROBLEM, regions=(*PROBLEM.regions, Region(path="m.py", qualname="g", start=11, end=12)))
    assert not is_copy(two, answer(SOURCE, 10))


@pytest.mark.parametrize("body", ["", "    ...\n", "    raise NotImplementedError\n"])
def test_what_is_yet_to_be_written_has_nothing_to_repeat(body):
    stub = f'def f(a):\n    """Doubles."""\n{body}'
    problem = replace(
        PROBLEM,
        regions=(Region(path="m.py", qualname="f", start=1, end=stub.count("\n")),),
        originals={"m.py": stub},
        files={"m.py": stub},
        suspicion={},
    )
    for lines in (1, 2, 3):
        assert not is_copy(problem, answer(stub + "    return a * 2\n", lines))


@pytest.mark.parametrize(
    ("above", "copied"),
    [
        ("LIMIT = 1\n", True),
        ("LIMIT = 2\n", False),
        ("from m import LIMIT\n", True),
        ("# the same\nLIMIT  =  1\n", True),
    ],
)
def test_another_value_above_the_function_may_be_the_correction(above, copied):
    files = {"m.py": SOURCE + "\n\nLIMIT = 1\n"}
    assert is_copy(replace(PROBLEM, files=files), f"```python\n{above}{SOURCE}```") is copied
