"""Ending a supervisor, whatever it is doing."""

from __future__ import annotations

import asyncio
import os
import sys

from greenloop_sandbox.backends._supervisor import Supervisor

WRITES = "import sys\nsys.stdout.buffer.write(bytes(1 << 20))"


async def test_a_report_that_nobody_reads_any_more_does_not_keep_it_from_ending():
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        WRITES,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    supervisor = Supervisor(process, "The supervisor")
    assert process.stdout is not None
    async with asyncio.timeout(60):
        while process.stdout._transport.is_reading():  # until asyncio stops taking more of it
            await asyncio.sleep(0)
        await supervisor.end()
    assert supervisor.has_ended


async def test_ending_while_somebody_waits_for_an_answer():
    supervisor = await Supervisor.start([sys.executable, "-c", "input()"], title="The supervisor", env=dict(os.environ))
    asking = asyncio.create_task(supervisor.wait_ready())
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await supervisor.end()
    (ended,) = await asyncio.gather(asking, return_exceptions=True)
    assert str(ended) == "The supervisor ended with status -9."


async def test_ending_while_an_answer_arrives():
    """Both take from the pipe then, and neither may be forgotten: first the answer is read, then what is left."""
    supervisor = await Supervisor.start([sys.executable, "-c", "input()"], title="The supervisor", env=dict(os.environ))
    asking = asyncio.create_task(supervisor.wait_ready())
    stdout = supervisor._process.stdout
    assert stdout is not None
    while stdout._waiter is None:
        await asyncio.sleep(0)
    asyncio.get_running_loop().call_soon(stdout.feed_data, b"\0")  # so that it wakes the reader just as the end begins
    async with asyncio.timeout(60):
        await supervisor.end()
    (ended,) = await asyncio.gather(asking, return_exceptions=True)
    assert str(ended) == "The supervisor ended with status -9."
