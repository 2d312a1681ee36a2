"""What the last commits changed."""

from __future__ import annotations

from dataclasses import replace

from greenloop.localize import signals
from suspects import by_name, evidence


def test_the_newer_a_change_is_the_more_suspicious():
    found = evidence()
    first, second, _third = found.suspects
    scores = by_name(signals.recent(replace(found, ages={first: 0.0, second: signals.HALF})))
    assert scores == {first.qualname: 1.0, second.qualname: 0.5}
