"""The attempt that the next refinement starts from."""

from __future__ import annotations

from attempts import attempt, baseline, in_order
from greenloop.core.records.attempt import Finding
from greenloop_lab.drafting.search._newest_best import newest_best


def test_of_equals_it_is_the_newest():
    refused = Finding(error_class="NoCode", message="No code.")
    attempts = in_order(baseline(), attempt(1, passed=1), attempt(2, passed=1), attempt(3, finding=refused))
    found = newest_best(attempts)
    assert found
    assert found.number == 2
    assert newest_best([attempts[-1]]) is None
