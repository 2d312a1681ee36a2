"""How many one-token mutants designed tests notice."""

from __future__ import annotations

import pytest

from greenloop.core.records.outcome import Noticed
from greenloop.plugins.written_tests.designed_tests import noticed_share
from greenloop.verdict.beyond_tests.mutation_testing import Mutant


@pytest.mark.parametrize(
    ("lines", "tried", "killed", "unreached", "share"),
    [
        ([2] * 10, 10, 4, [], 0.4),
        ([2] * 10, 5, 2, [], 0.4),  # time for half of them
        ([2] * 4, 4, 0, [], None),  # too few to say anything
        ([2] * 5 + [3] * 5, 5, 5, [3], 0.5),  # nobody notices what no test reaches
        ([2, 3, 3, 3, 3], 1, 1, [3], 0.2),
        ([3] * 5, 0, 0, [3], 0.0),
    ],
)
def test_the_share_of_mutants_that_are_noticed(lines, tried, killed, unreached, share):
    mutants = [Mutant(path="m.py", line=line, old="", new="", text=str(n)) for n, line in enumerate(lines)]
    places = tuple(("m.py", line) for line in unreached)
    assert noticed_share(Noticed(tests=1, tried=tried, killed=killed, unreached=places), mutants) == share
