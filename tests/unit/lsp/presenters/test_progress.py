"""Progress tokens of what ends while the editor is still being asked for them: none is kept, and no line is left."""

import asyncio
from types import SimpleNamespace

import pytest

from editor_runs import a_run
from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection.client import Capabilities, Client, after_reply
from greenloop.lsp.presenters.progress import ProgressLine, RunProgressLine
from greenloop.lsp.tasks import Tasks

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
def client(progress):
    client = Client(SimpleNamespace(work_done_progress=progress))
    client.capabilities = Capabilities(progress=True)
    return client


def an_editor(client):
    return SimpleNamespace(client=client, documents=None, tasks=Tasks())


async def asked(client):
    task = asyncio.create_task(client.open_progress())
    await asyncio.sleep(0)
    return task


async def others():
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)


async def test_cancelled_before_the_reply(client, progress):
    task = await asked(client)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    progress.go.set()
    await others()
    assert progress.tokens == {}


async def test_cancelled_in_the_moment_of_the_reply(client, progress):
    task = await asked(client)
    progress.accepted = lambda: asyncio.get_running_loop().call_soon(task.cancel)
    progress.go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert progress.tokens == {}


async def test_accepted(client, progress):
    task = await asked(client)
    progress.go.set()
    assert await task in progress.tokens


@pytest.mark.parametrize("turns", range(8))
async def test_a_line_that_ends_about_the_moment_of_the_reply(client, progress, turns):
    """However late the end comes: what was begun is ended, and nothing is kept."""
    line = ProgressLine(an_editor(client), "title", lambda: None)
    line.open()
    progress.go.set()
    await after_reply()
    for _turn in range(turns):
        await asyncio.sleep(0)
    line.end("over")
    await others()
    assert progress.tokens == {}
    assert progress.said in ([], ["begin", "end"])


@pytest.mark.parametrize("turns", range(8))
async def test_a_run_that_is_cancelled_about_the_moment_of_the_reply(client, progress, tmp_path, turns):
    done = asyncio.Event()
    bar = RunProgressLine(an_editor(client), a_run(tmp_path, TARGET))
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
