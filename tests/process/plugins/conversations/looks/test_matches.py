"""Regular expressions are searched for in a process of their own, which ends with its time."""

from __future__ import annotations

import asyncio

import psutil
import pytest

from greenloop.plugins.conversations.looks import _matches, search
from greenloop.plugins.conversations.looks._project import LookError
from look_project import look_project


@pytest.fixture
def project(tmp_path):
    return look_project(tmp_path, {"m.py": f"rates = 1\n{'a' * 50}!\n", "ä.txt": "größe\n"})[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/r.tes/", "m.py:1: rates = 1"),
        ("/^gr.ße$/", "ä.txt:1: größe"),
        ("/^nothing/", "`/^nothing/` is in no file."),
    ],
)
async def test_a_regular_expression(project, text, found):
    assert await search.look({"text": text}, project) == found


@pytest.mark.parametrize("text", ["/a(/", "/a{99999999999999999999}/", f"/{'(' * 5000}{')' * 5000}/", "/(?P<1>a)/"])
async def test_what_is_none_is_said(project, text):
    with pytest.raises(LookError, match="cannot be searched for: "):
        await search.look({"text": text}, project)


async def test_a_catastrophic_one_ends_and_the_server_goes_on_meanwhile():
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    with pytest.raises(LookError, match="takes too long: search for a simpler one"):
        await _matches._find_by_expression([("m.py", f"{'a' * 50}!\n")], "(a+)+$", seconds=0.5)
    ticking.cancel()
    assert ticks > 100
    assert psutil.Process().children() == []


async def test_cancelling_ends_its_process(project):
    looking = asyncio.create_task(search.look({"text": "/(a+)+$/"}, project))
    while not psutil.Process().children():
        await asyncio.sleep(0)
    looking.cancel()
    await asyncio.wait([looking])
    assert looking.cancelled()
    assert psutil.Process().children() == []
