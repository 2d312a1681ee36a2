"""Every way to end a run of the real engine while its candidate burns the processor: nothing of it is left."""

import asyncio
import contextlib
import json
import signal

import psutil
import pytest

from .conftest import FILES, Editor, spawn

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

# The candidate would go on for a minute: whatever ends before was ended.
FOREVER = "```python\ndef double(x):\n    while True:\n        pass\n```"
LONG = 60
# Seconds of processor time that nothing but the candidate uses.
BURNT = 0.5
SOON = 10


@pytest.fixture
async def burning(tmp_path):
    """An editor with a run whose candidate never ends, and all processes of its server."""
    root = tmp_path / "project"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    script = tmp_path / "answers.jsonl"
    script.write_text(json.dumps(FOREVER) + "\n")
    process = await spawn(tmp_path, "-m", "greenloop.lsp")
    editor = Editor(process, root)
    limits = {"kind": "bubblewrap", "seconds": LONG, "longest": LONG}
    await editor.start(model=f"scripted:{script}", preset="plain", sandbox=limits)
    await editor.action("Refine")
    progress = lambda m: m.get("method") == "$/progress" and "testing" in (m["params"]["value"].get("message") or "")  # noqa: E731
    await editor.wait(progress, "testing", seconds=LONG)
    editor.worker = await busy(process.pid)
    editor.family = psutil.Process(process.pid).children(recursive=True)
    yield editor
    if process.returncode is None:
        process.kill()
    await process.wait()
    editor.reader.cancel()


async def busy(pid):
    """The process that runs the candidate: the descendant that uses the processor, however little there is of it."""
    server = psutil.Process(pid)
    began = {}
    async with asyncio.timeout(LONG):
        while True:
            for child in server.children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    used = child.cpu_times().user
                    if used - began.setdefault(child, used) > BURNT:
                        return child
            await asyncio.sleep(0.1)


def command(editor):
    editor.request("workspace/executeCommand", {"command": "greenloop.cancel", "arguments": []})


def close(editor):
    editor.close("test_m.py")


def button(editor):
    token = editor.got("$/progress")[0]["token"]
    editor.notify("window/workDoneProgress/cancel", {"token": token})


@pytest.mark.story("cancelling leaves nothing behind", only=("command",))
@pytest.mark.parametrize("way", [command, close, button])
async def test_the_candidate_dies_and_the_server_lives(burning, way):
    way(burning)
    await burning.wait(
        lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end", "the end", seconds=SOON
    )
    assert await gone([burning.worker]) == []
    assert await burning.stop() == 0
    assert await gone(burning.family) == []


def goodbye(editor):
    editor.request("shutdown")
    editor.notify("exit")


def leave(editor):
    editor.notify("exit")


def hang_up(editor):
    editor.process.stdin.close()


def terminate(editor):
    editor.process.send_signal(signal.SIGTERM)


def kill(editor):
    editor.process.kill()


@pytest.mark.parametrize("way", [goodbye, leave, hang_up, terminate, kill])
async def test_the_server_ends_and_leaves_nothing(burning, way):
    assert burning.family
    way(burning)
    await burning.ended(SOON)
    assert await gone(burning.family) == []


async def gone(processes):
    """Those that are still there after a while."""
    _gone, left = await asyncio.to_thread(psutil.wait_procs, processes, SOON)
    return left
