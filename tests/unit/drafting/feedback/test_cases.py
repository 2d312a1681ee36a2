"""Feedback `cases`: which assertions hold, and what the others got instead."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.attempt import Attempt, Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.feedback import cases
from greenloop_sandbox import CaseResult, Failure, Frame

MODULE = "def f(n):\n    return n\n"
TESTS = """\
from m import f


def test_one():
    assert f(1) == 2


def test_two():
    assert f(2) == 2


def test_many():
    for n, want in [(1, 2), (3, 4)]:
        check(n, want)


def check(n, want):
    assert f(n) == want


def test_wide():
    assert f(
        7
    ) == 8
"""
REGION = Region(path="m.py", qualname="f", start=1, end=2)
LINES = {"test_one": 4, "test_two": 8, "test_many": 12, "test_wide": 21}
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(
        cases=tuple(Case(id=f"test_m.py::{name}", path="test_m.py", line=line) for name, line in LINES.items()),
        selectors=("test_m.py",),
    ),
    regions=(REGION,),
    originals={"m.py": MODULE, "test_m.py": TESTS},
    files={"m.py": MODULE, "test_m.py": TESTS},
)


def frame(line: int, function: str, path: str = "test_m.py") -> Frame:
    return Frame(path=path, line=line, function=function)


def differs(line: int, expected: str, observed: str, call: str = "", function: str = "test_one") -> Failure:
    return Failure(
        type="AssertionError",
        message=f"assert {observed} == {expected}" + (f"\n +  where {observed} = {call}" if call else ""),
        frames=(frame(line, function),),
        expected=expected,
        observed=observed,
    )


def attempt(*results: CaseResult, **more) -> Attempt:
    return Attempt(number=1, verdict=Verdict(status=Status.FAILED, cases=results, **more))


def failed(name: str, failure: Failure | None) -> CaseResult:
    return CaseResult(id=f"test_m.py::{name}", outcome="failed", failure=failure)


def passed(name: str) -> CaseResult:
    return CaseResult(id=f"test_m.py::{name}", outcome="passed")


async def told(*results: CaseResult, **more) -> str:
    return (await cases.describe(PROBLEM, [attempt(*results, **more)], None)).text


async def test_passing_and_failing_assertions_with_the_actual_value():
    text = await told(passed("test_two"), failed("test_one", differs(5, "2", "1", "f(1)")))
    assert text == "Tests passed:\nassert f(2) == 2\nTests failed:\nassert f(1) == 2  # output: 1"


async def test_every_failing_case_is_listed():
    results = [failed("test_one", differs(5, "2", "1")), failed("test_wide", differs(22, "8", "7"))]
    assert await told(*results) == (
        "Tests failed:\nassert f(1) == 2  # output: 1\nassert f(\n    7\n) == 8  # output: 7"
    )


async def test_what_all_of_them_got_is_said_once():
    missing = Failure(type="NotImplementedError", message="", frames=(frame(5, "test_one"), frame(2, "f", "m.py")))
    other = Failure(type="NotImplementedError", message="", frames=(frame(9, "test_two"), frame(2, "f", "m.py")))
    assert await told(failed("test_one", missing), failed("test_two", other)) == (
        "Tests failed, each with NotImplementedError, raised in `return n`:\nassert f(1) == 2\nassert f(2) == 2"
    )


async def test_an_assertion_over_variables_names_the_call_and_the_expected_value():
    failure = differs(18, "4", "3", "f(3)", function="check")
    failure = Failure(**{**vars(failure), "frames": (frame(14, "test_many"), frame(18, "check"))})
    assert await told(failed("test_many", failure)) == (
        "Tests failed:\nassert f(n) == want  # output: 3 from f(3), expected: 4"
    )


async def test_a_parametrised_case_names_its_values():
    failure = Failure(type="KeyError", message="7", frames=(frame(18, "check"),))
    assert "test_p[7-8]: assert f(n) == want  # KeyError: 7" in await told(failed("test_p[7-8]", failure))


async def test_an_exception_names_the_candidates_line_that_raised_it():
    failure = Failure(
        type="IndexError",
        message="list index out of range",
        frames=(frame(5, "test_one"), frame(3, "f", "m.py"), frame(99, "helper", "/usr/lib/x.py")),
    )
    candidate = Candidate(texts={REGION: "def f(n):\n    # comment\n    return [][n]\n"})
    newest = Attempt(
        number=1,
        candidate=candidate,
        verdict=Verdict(status=Status.FAILED, cases=(failed("test_one", failure),)),
    )
    text = (await cases.describe(PROBLEM, [newest], None)).text
    assert text.endswith("assert f(1) == 2  # IndexError: list index out of range, raised in `return [][n]`")


async def test_pytests_own_rows_serve_where_the_source_is_not_known():
    failure = Failure(
        type="AssertionError",
        message="assert 3 in [1]",
        text="    def test_x():\n>       assert 3 in [\n            f(1)]\nE       assert 3 in [1]",
    )
    result = CaseResult(id="tests/other.py::test_x", outcome="failed", failure=failure)
    assert "assert 3 in [ f(1)]  # evaluated: 3 in [1]" in await told(result)


async def test_a_doctest_example():
    text = 'def f(n):\n    """\n    >>> f(1)\n    2\n    """\n    return n\n'
    problem = Problem(**{**vars(PROBLEM), "files": {"m.py": text}, "originals": {"m.py": text}})
    failure = Failure(
        type="AssertionError",
        message="expected 2, got 1",
        frames=(frame(3, "m.f", "m.py"),),
        expected="2",
        observed="1",
    )
    newest = attempt(CaseResult(id="m.py::m.f[3]", outcome="failed", failure=failure))
    text = (await cases.describe(problem, [newest], None)).text
    assert text.endswith("f(1)  # output: 1, expected: 2")


async def test_a_case_that_never_ended_and_those_that_never_ran():
    hung = Failure(type="Timeout", message="it did not finish in time (after 10.0 s)")
    never = CaseResult(id="test_m.py::test_two", outcome="missing")
    text = await told(failed("test_one", hung), never, reason="The run was stopped: it did not finish in time.")
    assert text.startswith("The run was stopped: it did not finish in time.\n")
    assert "# it did not finish in time (after 10.0 s)" in text
    assert "assert f(2) == 2  # it was not run" in text


async def test_neighbours_that_newly_fail_are_told_apart():
    broken = failed("test_two", differs(9, "2", "3"))
    text = await told(passed("test_one"), collateral=(broken,))
    assert "Tests that passed before and fail now:\nassert f(2) == 2  # output: 3" in text


async def test_long_values_are_cut_and_their_first_difference_is_named():
    expected, observed = repr(list(range(300))), repr([*range(200), 7, *range(201, 300)])
    text = await told(failed("test_one", differs(5, expected, observed)))
    assert "(index 200: expected 200, observed 7)" in text
    assert len(text) < 700


async def test_many_cases_are_bounded():
    results = [failed(f"test_{n}", differs(5, str(-n), str(n))) for n in range(500)]
    results += [passed(f"test_{n}") for n in range(500, 1000)]
    text = await told(*results)
    assert "and 488 more" in text
    assert "and 495 more" in text
    assert len(text.split("\n")) == cases.FAILING + cases.PASSING + 4


async def test_huge_failure_texts_are_bounded():
    huge = "x" * 10_000_000
    failure = Failure(type="ValueError", message=huge, text=f">   {huge}\nE   {huge}", expected=huge, observed=huge)
    text = await told(*[failed(f"test_{n}", failure) for n in range(20)], reason=huge)
    assert len(text) < 20_000


async def test_an_answer_that_was_not_run_says_why():
    finding = Finding(error_class="Unchanged", message="The answer repeats the code it was asked to repair.")
    newest = Attempt(number=1, verdict=Verdict(status=Status.REFUSED), finding=finding)
    assert finding.message in (await cases.describe(PROBLEM, [newest], None)).text
