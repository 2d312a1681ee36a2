"""Failing cases easiest first: by how many attempts passed them."""

from __future__ import annotations

from dataclasses import replace

from double_problem import BASELINE, HALF, PROBLEM, WRONG, make_attempt
from greenloop.core.records.attempt import Finding
from greenloop.core.records.verdict import Status, Verdict
from greenloop_lab.drafting.feedback import curriculum

FIVE, TWO = "test_m.py::test_five", "test_m.py::test_two"


async def test_what_more_attempts_passed_comes_first():
    """Row #13."""
    attempts = [
        BASELINE,
        make_attempt(1, "x + 5"),
        make_attempt(2, "x + 5"),
        make_attempt(3, HALF),
        make_attempt(4, WRONG[0]),
    ]
    note = await curriculum.describe(PROBLEM, attempts, None)
    assert note.fields == {"order": (FIVE, TWO)}
    assert note.text == (
        "First make this one pass:\nassert double(5) == 10  # output: 6\n"
        "Then these, easiest first:\nassert double(2) == 4  # output: 3"
    )


async def test_of_equals_the_shorter_assertion_comes_first():
    note = await curriculum.describe(PROBLEM, [BASELINE, make_attempt(1, WRONG[0])], None)
    assert note.fields == {"order": (TWO, FIVE)}


async def test_what_passes_is_named():
    note = await curriculum.describe(PROBLEM, [BASELINE, make_attempt(1, HALF)], None)
    assert note.text == (
        "Tests passed:\nassert double(2) == 4\nFirst make this one pass:\nassert double(5) == 10  # output: 7"
    )


async def test_an_answer_that_was_not_run_and_a_run_without_cases():
    finding = Finding(error_class="NoCode", message="The answer holds no code.")
    refused = replace(make_attempt(1, HALF), candidate=None, finding=finding, verdict=Verdict(status=Status.REFUSED))
    assert (await curriculum.describe(PROBLEM, [BASELINE, refused], None)).text.startswith("The code was not run")
    crashed = replace(make_attempt(1, HALF), verdict=Verdict(status=Status.CRASHED, reason="It was killed."))
    assert (await curriculum.describe(PROBLEM, [BASELINE, crashed], None)).text == "It was killed."
