"""Progress tokens of what ends while the editor is still being asked for them: none is kept, and no line is left."""

import asyncio
from types import SimpleNamespace

import pytest

from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection import client_requests
from greenloop.lsp.presenters.progress import Bar
from greenloop.lsp.presenters.progress_line import Line
from greenloop.lsp.runs.runs import Run, Runs
from greenloop.project.settings import Settings

TARGET = Target(kind=TargetKind.TEST, path="t.py", qualname="t", selector="t.py::t", start=1, end=1, name_line=1)


class Progress:
    """Accepts a token after `go`; then `accepted` is called, before anybody who waits hears of it."""

    def __init__(self):
        self.tokens, self.go, self.accepted, self.said = {}, asyncio.Event(), lambda: None, []

    async def create_async(self, token):
        await self.go.wait()
        self.tokens[token] = asyncio.get_running_loop().create_future()
        self.accepted()

    def begin(self, _token, value):
        self.said.append(value.kind)

    report = end = begin


@pytest.fixture
def progress():
    return Progress()


@pytest.fixture
def server(progress):
    server = SimpleNamespace(abilities=SimpleNamespace(progress=True), work_done_progress=progress, outbox=None)
    server.runs = Runs()
    return server


async def asked(server):
    task = asyncio.create_task(client_requests.open_progress(server))
    await asyncio.sleep(0)
    return task


async def others():
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)


async def test_cancelled_before_the_reply(server, progress):
    task = await asked(server)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    progress.go.set()
    await others()
    assert progress.tokens == {}


async def test_cancelled_in_the_moment_of_the_reply(server, progress):
    task = await asked(server)
    progress.accepted = lambda: asyncio.get_running_loop().call_soon(task.cancel)
    progress.go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert progress.tokens == {}


async def test_accepted(server, progress):
    task = await asked(server)
    progress.go.set()
    assert await task in progress.tokens


@pytest.mark.parametrize("turns", range(8))
async def test_a_line_that_ends_about_the_moment_of_the_reply(server, progress, turns):
    """However late the end comes: what was begun is ended, and nothing is kept."""
    line = Line(server, "title", lambda: None)
    line.ask()
    progress.go.set()
    await client_requests.apart()
    for _turn in range(turns):
        await asyncio.sleep(0)
    line.end("over")
    await others()
    assert progress.tokens == {}
    assert progress.said in ([], ["begin", "end"])


@pytest.mark.parametrize("turns", range(8))
async def test_a_run_that_is_cancelled_about_the_moment_of_the_reply(server, progress, tmp_path, turns):
    done = asyncio.Event()
    bar = Bar(server, Run(root=tmp_path, target=TARGET, uri="", settings=Settings(), began=0.0))
    opening = asyncio.create_task(bar.open())
    progress.accepted = lambda: asyncio.get_running_loop().call_soon(cancel, turns)

    def cancel(left):
        if left:
            asyncio.get_running_loop().call_soon(cancel, left - 1)
        else:
            opening.cancel()
            bar.end("cancelled")
            done.set()

    progress.go.set()
    await done.wait()
    await others()
    assert progress.tokens == {}
    assert progress.said in ([], ["begin", "end"])
