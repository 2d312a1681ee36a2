"""How far functions are from the test."""

from __future__ import annotations

import pytest

from greenloop.localize.signals import distance
from suspects import by_name, evidence


def test_what_the_test_calls_is_nearest():
    found = by_name(distance.scores(evidence()))
    assert found == {"parse_duration": 1.0, "split": 0.5, "Clock.tick": pytest.approx(1 / 3)}
