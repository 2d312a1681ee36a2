"""What is read as a plan, and what a planner is shown of the tests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from double_problem import PROBLEM, TESTS
from greenloop.core.records.model import Usage
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop_lab.drafting.feedback import _plans


@pytest.mark.parametrize(
    ("answer", "plan"),
    [
        ("1. take x\n2) double it", "1. take x\n2. double it"),
        ("Sure!\n- take `x`\n* double it\n- take `x`", "1. take `x`\n2. double it"),
        ("**Step 1:** take x\nStep 2: double it", "1. take x\n2. double it"),
        ("1. **Inputs**: a text\n2. **Result**: a text", "1. Inputs: a text\n2. Result: a text"),
        ("```python\ndef f():\n    return 1\n```\n1. only this", "1. only this"),
        ("Take the number and add it to itself.", "Take the number and add it to itself."),
        ("```python\ndef f():\n    return 1\n```", ""),
        ("```python\ndef f(:", ""),
        ("I do not know.", ""),
        ("", ""),
    ],
)
def test_what_is_read_as_a_plan(answer, plan):
    assert _plans.read_plan(answer) == plan


def test_a_plan_is_bounded():
    plan = _plans.read_plan("\n".join(f"{n}. {'word ' * 1000}{n}" for n in range(500)))
    assert plan.count("\n") < _plans.STEPS
    assert len(plan) < 3000
    assert len(_plans.read_plan("word " * 100_000)) <= _plans.WORDS + 10
    assert len(_plans.read_text("line\n" * 100_000)) < 200


def test_tests_are_shown_with_their_statements():
    tests = _plans.shown_tests(PROBLEM)
    assert _plans.list_tests(tests) == "Test 1: assert double(5) == 10\nTest 2: assert double(2) == 4"
    assert [test.case for test in tests] == ["test_m.py::test_five", "test_m.py::test_two"]


def test_a_test_of_several_statements_a_parametrised_one_an_example_and_one_without_source():
    several = f"{TESTS}\n\n@mark\ndef test_both(n):\n    assert double(1) == 2\n    assert double(n) == 6\n"
    module = 'def double(x):\n    """Twice x.\n\n    >>> double(4)\n    8\n    """\n    raise NotImplementedError\n'
    cases = (
        Case(id="test_m.py::test_both", path="test_m.py", line=13),
        Case(id="test_m.py::test_two[3]", path="test_m.py", line=8),
        Case(id="doctest:m.double:0", path="m.py", line=4, provenance=Provenance.DOCTEST),
        Case(id="elsewhere.py::test_x", path="elsewhere.py", line=1),
    )
    files = {"m.py": module, "test_m.py": several}
    tests = _plans.shown_tests(replace(PROBLEM, spec=Spec(cases=cases), files=files))
    assert [test.text for test in tests] == [
        "test_both\n    assert double(1) == 2\n    assert double(n) == 6",
        "test_two[3]: assert double(2) == 4",
        "double(4) gives 8",
        "test_x",
    ]


def test_a_note_says_what_could_not_be_read():
    note = _plans.make_note([], {"plan": ""}, Usage(), "no idea " * 200)
    assert note.fields["plans"] == ()
    assert note.fields["artefacts"] == {}
    assert note.fields["unparsable"].startswith("no idea no idea")
    assert len(note.fields["unparsable"]) < 300
    assert _plans.make_note([], {}, Usage()).fields["unparsable"] == "an empty answer"
    assert "unparsable" not in _plans.make_note([], {}, Usage(), is_complete=True).fields
