"""The command that runs the tests of a row of the lineage page."""

from __future__ import annotations

import pytest

from benchmarks import lineage

OUTCOMES = {
    "tests.unit.test_a::test_one": "passed",
    "tests.unit.test_a::test_two[x]": "passed",
    "tests.unit.test_a::test_two[y]": "failure",
    "tests.unit.test_a::test_one_more": "skipped",
}


def test_every_row_has_tests():
    rows = lineage.read_rows()
    assert {"D1", "#30", "LDB", "R25", "F14"} <= {*rows}
    assert [row for row, (_system, tests) in rows.items() if not tests] == []


@pytest.mark.parametrize(
    ("test", "outcome"),
    [
        ("test_one", "passed"),
        ("test_two", "failure"),
        ("test_two[x]", "passed"),
        ("test_one_more", "skipped"),
        ("test_on", "missing"),
    ],
)
def test_a_test_is_as_good_as_its_worst_case(test, outcome):
    assert lineage.outcome_of(f"tests/unit/test_a.py::{test}", OUTCOMES) == outcome
