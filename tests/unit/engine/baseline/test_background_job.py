"""A job in the background: its sandbox is closed whenever and however the work ends."""

from __future__ import annotations

import asyncio

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.engine.baseline.background_job import BackgroundJob


class Room:
    def __init__(self) -> None:
        self.opened = self.closed = 0
        self.error: Exception | None = None

    async def open(self):
        if self.error:
            raise self.error
        self.opened += 1
        return self

    async def warm(self) -> None:
        await asyncio.sleep(0)

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def room() -> Room:
    return Room()


@pytest.fixture
def job(room) -> BackgroundJob:
    return BackgroundJob(open_session=room.open)


async def test_work_that_ends_closes_its_sandbox_before_it_is_stopped(job, room):
    async def work(session):
        assert session is room

    job.begin(work)
    await job._working
    assert (room.opened, room.closed, job.has_begun) == (1, 1, True)
    await job.stop()
    assert (room.closed, job.has_begun) == (1, False)


@pytest.mark.parametrize("steps", range(6))
async def test_wherever_it_is_stopped_nothing_stays_open(job, room, steps):
    job.begin(lambda _session: asyncio.Event().wait())
    for _ in range(steps):
        await asyncio.sleep(0)
    await job.stop()
    assert room.opened == room.closed


async def test_what_is_only_prepared_is_closed_and_it_can_begin_again(job, room):
    job.prepare()
    for _ in range(3):
        await asyncio.sleep(0)
    await job.stop()
    assert (room.opened, room.closed) == (1, 1)
    job.begin(lambda _session: asyncio.sleep(0))
    await job._working
    assert (room.opened, room.closed) == (2, 2)
    await job.stop()


async def test_a_sandbox_that_does_not_open_is_the_runs_own_fault_to_report(job, room):
    room.error = CannotVerifyError("no sandbox")
    job.begin(lambda _session: asyncio.sleep(0))
    await job._working
    await job.stop()
    assert room.closed == 0
