"""An attempt in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fake_engine import attempt, tampered
from greenloop.core.records.verdict import Status
from greenloop.wording.attempt import attempt_line, attempt_table, error_and_place, result_and_error

REJECTED = replace(attempt(1), error_class="Repeated", verdict=replace(attempt(1).verdict, status=Status.REFUSED))


@pytest.mark.parametrize(
    ("tried", "line", "result", "place"),
    [
        (
            attempt(0),
            "your code: 0/1 passed, AssertionError: assert 6 == 10",
            "0 of 1 tests pass, AssertionError: assert 6 == 10",
            "AssertionError test_m.py:5",
        ),
        (attempt(2, Status.PASSED), "attempt 2: 1/1 passed", "passed", ""),
        (
            tampered(1),
            "attempt 1: tampered, Tampered: test_m.py::test_double does not fail as it must.",
            "tampered, Tampered: test_m.py::test_double does not fail as it must.",
            "Tampered: test_m.py::test_double does not fail as it must.",
        ),
        (
            REJECTED,
            "attempt 1: 0/1 passed, Repeated: assert 6 == 10",
            "rejected: same as an earlier attempt",
            "same as an earlier attempt",
        ),
    ],
    ids=["the user's code", "passed", "tampered", "rejected"],
)
def test_an_attempt_is_one_line(tried, line, result, place):
    assert (attempt_line(tried), result_and_error(tried), error_and_place(tried)) == (line, result, place)


def test_the_table_is_aligned():
    rows = attempt_table((attempt(0), attempt(1))).splitlines()
    assert rows[0].startswith("| attempt | model ")
    assert len({len(row) for row in rows}) == 1
