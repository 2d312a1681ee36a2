"""What the last commits changed."""

from __future__ import annotations

from dataclasses import replace

from greenloop.localize.signals import recent
from suspects import by_name, evidence


def test_the_newer_a_change_is_the_more_suspicious():
    found = evidence()
    first, second, _third = found.suspects
    scores = by_name(recent.scores(replace(found, ages={first: 0.0, second: recent.HALF})))
    assert scores == {first.qualname: 1.0, second.qualname: 0.5}
