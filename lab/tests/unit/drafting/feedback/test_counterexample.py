"""What broke a property, read from failures as runs really give them, and told to the model."""

import pytest

from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop_lab.drafting.feedback import counterexample as feedback
from greenloop_lab.drafting.feedback._counterexample import counterexample
from greenloop_lab.drafting.feedback.counterexample import outcome, violated_property
from greenloop_sandbox import CaseResult, Failure

MESSAGE = "`length` does not hold: sort(xs=[0, 0]) gave [0]\nassert 1 == 2\n +  where 1 = len([0])"
BLOCK = """E   AssertionError: `length` does not hold: sort(xs=[0, 0]) gave [0]
E   assert 1 == 2
E    +  where 1 = len([0])
E   Falsifying example: test_property_1(
E       xs=[0, 0],
E       s='',  # or any other generated value
E   )"""
RAISED = """    return xs[1]
           ^^^^^
E   IndexError: list index out of range
E   Falsifying example: test_property_1(
E       xs=[],
E   )"""


def failed(message=MESSAGE, text="", kind="AssertionError"):
    return Failure(type=kind, message=message, text=text)


def test_the_message_alone_is_enough():
    failure = failed()
    assert counterexample(failure) == {"xs": "[0, 0]"}
    assert violated_property(failure) == "length"
    assert outcome(failure) == "[0]"


def test_hypothesis_lists_every_argument():
    assert counterexample(failed(text=BLOCK)) == {"xs": "[0, 0]", "s": "''"}


def test_a_raised_exception_is_what_came_out():
    failure = failed("list index out of range", RAISED, "IndexError")
    assert counterexample(failure) == {"xs": "[]"}
    assert violated_property(failure) == ""
    assert outcome(failure) == "IndexError: list index out of range"


@pytest.mark.parametrize("value", ["') gave '", "'a`b` does not hold: '", "['\\n', ')']", "{'a': (1, 2)}"])
def test_values_that_look_like_the_message_itself(value):
    assert counterexample(failed(f"`p` does not hold: f(x={value}, k=3) gave 1")) == {
        "x": repr(eval(value)),
        "k": "3",
    }


def test_nothing_is_made_up():
    assert counterexample(failed("assert 1 == 2")) == {}
    assert counterexample(failed("`p` does not hold: f(x=<object object at 0x1>) gave 1")) == {}
    assert counterexample(failed("", "E   Falsifying example: t(\n[...]")) == {}


def test_an_enum_is_taken_from_hypothesis():
    text = "E   Falsifying example: test_property_1(\nE       x=Color.RED,\nE   )"
    assert counterexample(failed("`p` does not hold: f(x=<Color.RED: 1>) gave 1", text)) == {"x": "Color.RED"}


async def test_feedback_is_the_violated_property_and_the_smallest_input(problem_with):
    problem, attempt = problem_with(
        {"length: len(result) == len(xs)": failed("`length` does not hold: double(xs=[5, 5, 5]) gave [5]")},
        {"idempotent: double(result) == result": failed("`idempotent` does not hold: double(xs=[0]) gave [1]")},
    )
    note = await feedback.describe(problem, [attempt], None)
    assert note.text == (
        "The property `idempotent` does not hold: double(result) == result\n"
        "  smallest input that breaks it: xs = [0]\n"
        "  double gave: [1]"
    )


async def test_what_must_hold_comes_before_any_property(problem_with):
    problem, attempt = problem_with(
        {"p: result": failed("`p` does not hold: double(xs=[0]) gave [1]")},
        {"double(2) == 4": Failure(type="AssertionError", message="", expected="4", observed="5")},
    )
    note = await feedback.describe(problem, [attempt], None)
    assert note.text == "double(2) == 4\n  expected: 4\n  observed: 5"


@pytest.fixture
def problem_with():
    from dataclasses import replace

    from double_problem import PROBLEM

    def make(*failing):
        cases, results = [], []
        for number, each in enumerate(failing):
            ((source, failure),) = each.items()
            provenance = Provenance.PROPERTY if ": " in source else Provenance.DOCTEST
            cases.append(Case(id=str(number), path="m.py", line=1, provenance=provenance, source=source))
            results.append(CaseResult(id=str(number), outcome="failed", failure=failure))
        problem = replace(PROBLEM, spec=Spec(cases=tuple(cases)))
        candidate = Candidate(texts={problem.regions[0]: "def double(x):\n    return 1\n"})
        verdict = Verdict(status=Status.FAILED, cases=tuple(results))
        return problem, Attempt(number=1, candidate=candidate, verdict=verdict)

    return make
