"""As many model calls for one arm as another one made."""

from __future__ import annotations

import pytest

from greenloop_lab.bench import plans


def runs(*told):
    """Each is (calls, reason, attempts allowed)."""
    return {
        ("b", str(n), 0): {"calls": calls, "reason": reason, "settings": {"attempts": attempts}}
        for n, (calls, reason, attempts) in enumerate(told)
    }


@pytest.mark.parametrize(("calls", "limit"), [([], 1), ([0, 0], 1), ([1, 8, 8], 6), ([3, 3], 3)])
def test_the_first_limit_is_the_mean(calls, limit):
    assert plans.first_limit(calls) == limit


@pytest.mark.parametrize(
    ("found", "more"),
    [
        (runs((1, "solved", 6), (6, "attempts", 6), (6, "attempts", 6)), {"1": 8, "2": 8}),
        (runs((4, "solved", 6), (6, "attempts", 6), (6, "attempts", 6)), {"1": 7}),
        (runs((5, "solved", 6), (6, "attempts", 6), (6, "attempts", 6)), {}),
        (runs((1, "solved", 6), (2, "solved", 6), (1, "tokens", 6)), {}),
        (runs((6, "attempts", 6), (6, "attempts", 6), (6, "attempts", 6)), {}),
    ],
)
def test_what_is_not_solved_goes_on_until_both_made_the_same(found, more):
    assert {key[1]: limit for key, limit in plans.next_limits([1, 8, 8], found).items()} == more
