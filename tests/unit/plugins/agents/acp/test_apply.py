"""A result is shown, permitted and written, or nothing is."""

from __future__ import annotations

import asyncio
from typing import Any

import acp
import pytest

from acp_turn import FILES, RIGHT, WRONG, FakeClient, ask, found


class SlowWriter(FakeClient):
    """Writes when it may."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.asked_to_write, self.may_write = asyncio.Event(), asyncio.Event()

    async def write_text_file(self, session_id: str, path: str, content: str) -> None:
        self.asked_to_write.set()
        await self.may_write.wait()
        await super().write_text_file(session_id, path, content)


async def test_a_permitted_change_is_shown_and_written(root, use):
    use(found())
    client = FakeClient()
    assert await ask(root, client) == "end_turn"
    assert (root / "m.py").read_text() == RIGHT
    assert client.said == "- attempt 1: passed\n\nVerified.\nApplied.\n"
    assert client.calls("execute") == [("Refine m.py::f", "completed")]
    assert client.calls("edit") == [("Apply the verified change of m.py", "completed")]
    assert [option.kind for option in client.asked[0]] == ["allow_once", "reject_once"]
    (edit,) = [each for each in client.updates if getattr(each, "kind", "") == "edit"]
    assert edit.content == [acp.tool_diff_content(str(root / "m.py"), RIGHT, WRONG)]
    assert [(location.path, location.line) for location in edit.locations] == [(str(root / "m.py"), 2)]
    (asked,) = client.shown
    assert (asked.title, asked.content, asked.locations) == (edit.title, edit.content, edit.locations)


@pytest.mark.parametrize("answer", ["reject", "dismissed", "error"])
async def test_without_permission_nothing_is_written(root, use, answer):
    use(found())
    client = FakeClient(answer)
    assert await ask(root, client) == "end_turn"
    assert (root / "m.py").read_text() == WRONG
    assert client.said.endswith("Not applied. Nothing was written. The result is kept: `greenloop history` lists it.\n")
    assert client.calls("edit") == [("Apply the verified change of m.py", "failed")]


async def test_a_cancelled_turn_writes_nothing_and_ends_its_calls(root, use):
    use(found())
    client = FakeClient("never")
    running = asyncio.create_task(ask(root, client))
    while not client.asked:
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (root / "m.py").read_text() == WRONG
    assert client.calls("edit") == [("Apply the verified change of m.py", "failed")]


async def test_text_typed_meanwhile_is_merged_and_verified_again(root, use):
    fake = use(found())
    fake.before_end = lambda: (root / "m.py").write_text(WRONG + "\n\nTYPED = 1\n")
    client = FakeClient()
    await ask(root, client)
    assert (root / "m.py").read_text() == RIGHT + "\n\nTYPED = 1\n"
    assert fake.reverified == [{"m.py": (RIGHT + "\n\nTYPED = 1\n").encode()}]


async def test_a_merged_text_that_fails_is_not_offered(root, use):
    fake = use(found())
    fake.passes_again = False
    fake.before_end = lambda: (root / "m.py").write_text(WRONG + "\n\nTYPED = 1\n")
    client = FakeClient()
    assert await ask(root, client) == "end_turn"
    assert client.asked == []
    assert "m.py changed during the run, and the result fails with that change." in client.said


async def test_a_change_at_the_same_place_is_refused(root, use):
    fake = use(found())
    fake.before_end = lambda: (root / "m.py").write_text(WRONG.replace("x + 1", "x + 7"))
    client = FakeClient()
    assert await ask(root, client) == "end_turn"
    assert client.asked == []
    assert "m.py changed at the same place during the run." in client.said


async def test_a_write_that_has_begun_is_finished_though_the_turn_is_cancelled(root, use):
    use(found())
    path = str(root / "m.py")
    client = SlowWriter(buffers={path: WRONG})
    running = asyncio.create_task(ask(root, client, capabilities=FILES))
    await asyncio.wait_for(client.asked_to_write.wait(), 5)
    running.cancel()
    await asyncio.sleep(0)
    client.may_write.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert client.buffers[path] == RIGHT
    assert client.calls("edit") == [("Apply the verified change of m.py", "completed")]
