"""Where a result was verified is named, and louder where the wall was open or missing."""

from __future__ import annotations

import pytest

from greenloop.core.nouns import Evidence, Outcome, StopReason, Verified
from greenloop.core.summary import caveat, solved, trust
from greenloop.lsp.presenters.status import standing


def evidence(**fields) -> Evidence:
    return Evidence(cases={"user": (1, 1)}, canaried=1, canary_total=1, **fields)


def outcome(found: Evidence) -> Outcome:
    return Outcome(
        solved=True, verified=trust(found), reason=StopReason.SOLVED, message="", attempts=(), evidence=found
    )


@pytest.mark.parametrize(
    ("found", "begins", "afterwards", "shown"),
    [
        (evidence(sandbox="bubblewrap"), "verified in bubblewrap: user 1/1", "", "verified (user tests 1/1, "),
        (
            evidence(sandbox="docker", network=True),
            "verified in docker with the network on: user 1/1",
            "It ran with the network on.",
            "in docker with the network on)",
        ),
        (
            evidence(sandbox="none"),
            "unverified: no sandbox: user 1/1",
            "It ran without a sandbox.",
            "unverified: no sandbox (user tests 1/1",
        ),
    ],
    ids=["a wall", "network on", "no wall"],
)
def test_where_it_ran_is_part_of_every_sentence(found, begins, afterwards, shown):
    assert solved(found, trust(found)).startswith(begins)
    assert caveat(found) == afterwards
    assert shown in standing(outcome(found))


def test_without_a_wall_nothing_is_verified_however_many_tests_pass():
    assert trust(evidence(sandbox="none", neighbours_unchanged=100)) is Verified.UNVERIFIED
    assert not outcome(evidence(sandbox="none")).applicable
