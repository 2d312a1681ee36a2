"""Questions to the user, and what an answer becomes."""

from __future__ import annotations

import pytest

from ballots import make_ballot, make_case
from greenloop.core.generated_tests import Equation, parse_equation
from greenloop.core.records.spec import Case, Provenance
from greenloop.plugins.written_tests import voting
from greenloop_sandbox import CaseResult, Failure


@pytest.mark.parametrize(
    ("result", "source", "behaviour"),
    [
        (CaseResult(id="x", outcome="passed"), "assert f(1) == [ 1,2 ]", "[1, 2]"),
        (CaseResult(id="x", outcome="passed"), "with pytest.raises(ValueError): f(1)", "! ValueError"),
        (CaseResult(id="x", outcome="passed"), "xs: sort(xs) == sorted(xs)", "passed"),
        (
            CaseResult(id="x", outcome="failed", failure=Failure(type="AssertionError", message="", observed="(1,2)")),
            "assert f(1) == 3",
            "(1, 2)",
        ),
        (
            CaseResult(id="x", outcome="failed", failure=Failure(type="KeyError", message="")),
            "assert f(1) == 3",
            "! KeyError",
        ),
        (
            CaseResult(id="x", outcome="failed", failure=Failure(type="AssertionError", message="")),
            "assert f(1) == 3",
            "failed",
        ),
    ],
)
def test_behaviour_can_be_compared(result, source, behaviour):
    assert voting.case_behaviour(result, source) == behaviour


@pytest.mark.parametrize(
    ("source", "question"),
    [
        ("assert f([]) == 0", "Is `f([]) == 0` right?"),
        ("assert 0 == f([])", "Is `f([]) == 0` right?"),
        ("assert f(0.1) == pytest.approx(0.2)", "Is `f(0.1) == 0.2` right?"),
        ("assert not f('x')", "Is `f('x') == False` right?"),
        ("with pytest.raises(ValueError): f(-1)", "Should `f(-1)` raise ValueError?"),
        ("length: len(result) == len(xs)", "Should this always hold: length: len(result) == len(xs)?"),
    ],
)
def test_a_question_has_one_form(source, question):
    asked = Case(id="x", path="m.py", line=1, provenance=Provenance.DESIGNED, source=source)
    assert voting.question_text(asked, parse_equation(source)) == question


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (voting.CaseJudgement(case=make_case("a"), right=True, equation=Equation(call="f(1)", expected="2")), None),
        (
            voting.CaseJudgement(case=make_case("a"), right=False, equation=Equation(call="f(1)", expected="2")),
            "assert not (f(1) == 2)",
        ),
        (
            voting.CaseJudgement(
                case=make_case("a"), right=False, equation=Equation(call="f(1)", expected="0.5"), value="0.5"
            ),
            "assert f(1) == pytest.approx(0.5)",
        ),
        (voting.CaseJudgement(case=make_case("a"), right=False, equation=None), None),
    ],
)
def test_an_answer_becomes_a_test(answer, body):
    assert (answer.check.body if answer.check else None) == body


def test_only_values_are_offered_as_the_right_one():
    asked = make_case("a")
    known = parse_equation(asked.source)
    gave = ["2", "failed", "! KeyError", "<object at 0x1>", "[1]"]
    found = [make_ballot(number, "", seen={"a": value}) for number, value in enumerate(gave, 1)]
    assert voting._other_values(asked, known, found) == {"It is 2": "2", "It is [1]": "[1]"}
