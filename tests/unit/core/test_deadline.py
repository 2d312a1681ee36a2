"""How much of a run's time is left, and how much of it is kept for the proof."""

from __future__ import annotations

import asyncio
import math

import pytest

from greenloop.core.deadline import Deadline, before_search
from greenloop.core.errors import OutOfTimeError


@pytest.mark.parametrize(
    ("seconds", "proof", "kept"),
    [(120.0, math.inf, 30.0), (600.0, math.inf, 60.0), (600.0, 9.0, 9.0), (20.0, 9.0, 5.0)],
    ids=["a quarter", "at most a minute", "no more than it takes", "a quarter, also where it takes longer"],
)
def test_time_is_kept_for_the_proof(seconds, proof, kept):
    assert Deadline(seconds=seconds, proof_seconds=proof).kept == kept


def test_what_is_left_counts_from_the_beginning():
    now = [100.0]
    deadline = Deadline(seconds=40.0, clock=lambda: now[0])
    now[0] += 25
    assert (deadline.left, deadline.left_to_search) == (15.0, 5.0)
    now[0] += 25
    assert (deadline.left, deadline.left_to_search) == (0.0, 0.0)


async def test_without_a_limit_no_time_is_short():
    deadline = Deadline()
    assert deadline.left == deadline.left_to_search == math.inf
    assert deadline.limit().when() is None


async def test_time_that_ends_before_the_search_is_told_as_such():
    with pytest.raises(OutOfTimeError, match=r"The run's 0 s \(`seconds`\) were over"):
        async with before_search(Deadline(seconds=0.0)):
            await asyncio.Event().wait()


async def test_another_time_limit_than_the_runs_stays_what_it_is():
    with pytest.raises(TimeoutError, match="a request to the engine"):
        async with before_search(Deadline(seconds=600.0)):
            raise TimeoutError("a request to the engine")
