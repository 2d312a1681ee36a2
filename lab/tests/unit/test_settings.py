"""The laboratory's settings, which stand with greenloop's own."""

from __future__ import annotations

import pytest

from greenloop.project import settings
from greenloop_lab.settings import PlanningSettings, RankerSettings


@pytest.mark.parametrize(
    "key", ["planner.skip", *(f"ranker.{name}" for name in ("model", "temperature", "tokens", "after"))]
)
def test_they_are_found_by_their_keys(key):
    assert key in {each for each, *_rest in settings.keys()}


def test_a_value_is_read_by_its_class_and_by_its_key():
    found = settings.with_value(settings.Settings(), "ranker.model", "small")
    assert (found.of(RankerSettings).model, settings.get(found, "ranker.model")) == ("small", "small")
    assert settings.models(found) == {"small"}
    assert found.of(PlanningSettings).skip == []
