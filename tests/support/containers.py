"""Helpers for tests that need a container engine."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

from greenloop_sandbox import CaseResult, Environment, Execution, SandboxSpec, TestRun, case_results
from greenloop_sandbox.backends import _container, docker
from greenloop_sandbox.container import engine
from greenloop_sandbox.container.engine import LABEL, OWNER_LABEL

BUSY = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass\n"


def place(root: Path, **more) -> SandboxSpec:
    environment = Environment(
        executable=Path(sys.executable),
        prefix=Path(sys.prefix),
        base=Path(sys.base_prefix),
        version=sys.version_info[:2],
        source="test",
        has_pytest=True,
    )
    return SandboxSpec(root=root, environment=environment, masked=(".env*", "*.pem", ".git"), **more)


def one(execution: Execution) -> CaseResult:
    assert not execution.broken, execution.broken
    found = case_results(execution)
    assert len(found) == 1, (found, execution.output)
    return found[0]


async def tried(session: _container.ContainerSession, source: str, **run) -> CaseResult:
    """The result of a single test with this body."""
    body = "".join(f"    {line}\n" for line in source.splitlines())
    files = {"test_tried.py": f"def test_it():\n{body}".encode()}
    return one(await session.run(TestRun(selectors=("test_tried.py",), files=files, **run)))


def own_containers() -> list[str]:
    """Ids of the running containers that this process owns."""
    listed = docker.connect(10).client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
    return [
        container.id
        for container in listed
        if container.labels.get(OWNER_LABEL) == engine.container_labels()[OWNER_LABEL]
    ]


async def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not await asyncio.to_thread(condition):
        assert time.monotonic() < end, "it did not come true in time"
        await asyncio.sleep(0.02)
