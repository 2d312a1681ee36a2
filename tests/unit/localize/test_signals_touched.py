"""What the user has just changed."""

from __future__ import annotations

from dataclasses import replace

from greenloop.localize import ranking, signals
from suspects import by_name, evidence


def with_touched(*names: str):
    found = evidence()
    return replace(found, touched=frozenset(each for each in found.suspects if each.qualname in names))


def test_a_single_touched_function_is_told_from_many():
    assert by_name(signals.touched(with_touched("split"))) == {"split": 1.0}
    several = by_name(signals.touched(with_touched("split", "parse_duration")))
    assert set(several) == {"split", "parse_duration"}
    assert all(0 < score < 1 for score in several.values())
    assert signals.touched(with_touched()) == {}


def test_it_decides_between_functions_that_are_nearly_as_suspicious():
    before = ranking.suspicions(with_touched())
    after = ranking.suspicions(with_touched("split"))
    gained = {region.qualname: after[region] - before[region] for region in before}
    assert gained["split"] == ranking.WEIGHTS["touched"]
    assert gained["parse_duration"] == 0
