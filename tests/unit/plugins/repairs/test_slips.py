"""Slips are made of functions, or of any text that can be parsed, and of nothing else."""

from __future__ import annotations

import pytest

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.changes.change import ChangeKind, insert_after
from greenloop.plugins.repairs.slips import fragment_slip, function_slip, shown_by
from greenloop_sandbox import CaseResult, Failure

FAILURE = Failure(type="TypeError", message="first\nsecond", observed="None")
CASES = (CaseResult(id="t::a", outcome="failed", failure=FAILURE), CaseResult(id="t::b", outcome="passed"))
ATTEMPT = Attempt(number=0, verdict=Verdict(status=Status.FAILED, cases=CASES))


@function_slip
def longer(_fragment, function, _attempt):
    yield [insert_after(function.body[-1], " + 1")]
    yield []  # nothing to change


@fragment_slip
def doubled(fragment, _attempt):
    yield [insert_after(fragment.body[-1], " * 2")]


@pytest.mark.parametrize(
    ("slip", "text", "expected"),
    [
        (longer, "def f():\n    return 1\n", "def f():\n    return 1 + 1\n"),
        (longer, "x = 1\n", None),
        (longer, "def f(:\n", None),
        (doubled, "x = 1\n", "x = 1 * 2\n"),
        (doubled, "x = (\n", None),
    ],
)
def test_slips(slip, text, expected):
    changes = list(slip(text, ATTEMPT))
    assert [change.text for change in changes] == ([expected] if expected else [])
    assert {change.kind for change in changes} <= {ChangeKind.SLIP}


def test_only_the_first_line_of_a_message_shows_code_that_ran():
    assert shown_by(ATTEMPT) == "first\nNone"
