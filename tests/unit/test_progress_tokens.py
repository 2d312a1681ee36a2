"""Progress tokens of runs that end while the editor is still being asked for them: none is kept."""

import asyncio
from types import SimpleNamespace

import pytest

from greenloop.lsp import client


class Progress:
    """Accepts a token after `go`; then `accepted` is called, before anybody who waits hears of it."""

    def __init__(self):
        self.tokens, self.go, self.accepted = {}, asyncio.Event(), lambda: None

    async def create_async(self, token):
        await self.go.wait()
        self.tokens[token] = object()
        self.accepted()


async def asked(progress):
    server = SimpleNamespace(abilities=SimpleNamespace(progress=True), work_done_progress=progress)
    task = asyncio.create_task(client.open_progress(server))
    await asyncio.sleep(0)
    return task


async def test_cancelled_before_the_reply():
    progress = Progress()
    task = await asked(progress)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    progress.go.set()
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    assert progress.tokens == {}


async def test_cancelled_in_the_moment_of_the_reply():
    progress = Progress()
    task = await asked(progress)
    progress.accepted = lambda: asyncio.get_running_loop().call_soon(task.cancel)
    progress.go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert progress.tokens == {}


async def test_accepted():
    progress = Progress()
    task = await asked(progress)
    progress.go.set()
    assert await task in progress.tokens
