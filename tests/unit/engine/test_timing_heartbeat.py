"""No step is silent for longer than two seconds."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from fake_time import run_in_fake_time
from greenloop.engine.timing import heartbeat


def told_in(*steps: tuple[str, float], stop: float | None = None) -> list[tuple[float, str]]:
    """What is reported, and when, where steps take so many seconds."""
    told: list[tuple[float, str]] = []

    async def run():
        clock = asyncio.get_running_loop().time
        async with heartbeat(lambda text: told.append((clock(), text))) as beating:
            for sentence, seconds in steps:
                beating.report(sentence)
                await asyncio.sleep(seconds)
            if stop is not None:
                beating.stop()
                await asyncio.sleep(stop)

    run_in_fake_time(run)
    return told


def test_a_long_step_is_repeated_with_its_seconds():
    told = told_in(("running the test", 5.0))
    assert [text for _when, text in told] == ["running the test", "running the test (2 s)", "running the test (4 s)"]


def test_no_two_reports_are_more_than_two_seconds_apart():
    when = [when for when, _text in told_in(("a", 30.0), ("b", 1.0), ("c", 30.0))]
    assert max(later - earlier for earlier, later in pairwise(when)) <= 2.0
    assert len(when) > 30


def test_short_steps_are_reported_once():
    assert [text for _when, text in told_in(("a", 1.0), ("b", 1.5))] == ["a", "b"]


def test_nothing_is_repeated_once_events_tell_more():
    assert [text for _when, text in told_in(("a", 1.0), stop=60.0)] == ["a"]
