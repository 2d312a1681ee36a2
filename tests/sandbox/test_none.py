"""The back end without a wall: refused without consent, and even then the workspace is not written."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.sandbox import SandboxSpec, TestRun
from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop.project.settings import SandboxSettings, Settings
from greenloop.sandboxes.backends import none
from greenloop.sandboxes.backends._supervisor import descendants, is_alive

CONSENT = Settings(sandbox=SandboxSettings(unsafe=True))


@pytest.mark.story("without consent nothing runs outside a sandbox")
async def test_refused_without_consent(tmp_path, environment):
    sandbox = none.create(Settings())
    probe = await sandbox.probe()
    assert (probe.ok, bool(probe.remedy)) == (False, True)
    with pytest.raises(CannotVerifyError) as caught:
        await sandbox.open(SandboxSpec(root=tmp_path, environment=environment))
    assert "sandbox.unsafe" in caught.value.remedy


@pytest.mark.story("without consent nothing runs outside a sandbox")
async def test_runs_in_a_copy(tmp_path, lay, snapshot, environment):
    text = "from m import v\nimport os\ndef test_a():\n    open('out', 'w').close()\n    assert (v, os.path.exists('.env')) == (2, False)\n"
    root = lay(tmp_path / "w x", {"m.py": "v = 1\n", "test_m.py": text, ".env": "secret"})
    before = snapshot(root)
    session = await none.create(CONSENT).open(SandboxSpec(root=root, environment=environment, masked=(".env*",)))
    execution = await session.run(TestRun(selectors=("test_m.py",), files={"m.py": b"v = 2\n", "new/n.py": b""}))
    verdict = judge(["test_m.py::test_a"], {}, execution)
    assert verdict.status is Status.PASSED, verdict
    assert snapshot(root) == before
    await session.close()


async def test_cancel_ends_what_fled(tmp_path, lay, environment):
    text = "import os, time\ndef test_a():\n    if not os.fork():\n        os.setsid()\n        os.fork()\n    time.sleep(60)\n"
    root = lay(tmp_path / "w", {"test_m.py": text})
    session = await none.create(CONSENT).open(SandboxSpec(root=root, environment=environment))
    task = asyncio.create_task(session.run(TestRun(selectors=("test_m.py",), seconds=60)))
    while len(tree := descendants(os.getpid())) < 4:
        assert not task.done(), task.result()
        await asyncio.sleep(0.01)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 1.0
    assert [pid for pid in tree if is_alive(pid)] == []
