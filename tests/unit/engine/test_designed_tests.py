"""When designed tests are weak."""

from __future__ import annotations

import pytest

from greenloop.engine.designed_tests import is_weak
from greenloop.verdict.mutation_testing import Strength


@pytest.mark.parametrize(
    ("tried", "killed", "unreached", "weak"),
    [
        (10, 4, 0, True),
        (10, 5, 0, False),  # the share itself is enough
        (4, 0, 0, False),  # too few mutants to say anything
        (4, 0, 1, True),  # a line that no test reaches is one more that nobody notices
        (5, 5, 6, True),
        (0, 0, 0, False),
    ],
)
def test_tests_that_notice_too_little_are_weak(tried, killed, unreached, weak):
    lines = tuple(("m.py", line) for line in range(unreached))
    assert is_weak(Strength(tests=1, tried=tried, killed=killed, unreached=lines), 0.5) is weak
