"""Measures memory, processes and files over many verifications and cancels (`lab/benchmarks/sandbox.py --soak`)."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import resource
import statistics
import tempfile
import time
from pathlib import Path

from sandbox_project import (
    CASE,
    MASKED,
    RIGHT,
    WRONG,
    create_back_end,
    find_environment,
    let_learn,
    make_project,
    verify_once,
)  # fmt: skip

from greenloop.core.records.verdict import Status
from greenloop_sandbox import Sandbox, SandboxSpec, TestRun


async def soak(kinds: list[str], interpreter: str, folder: Path) -> None:
    """Memory over 1,000 verifications, 10 sessions at once, 200 cancels; for each back end."""
    env = find_environment(interpreter)
    for kind in kinds:
        place = SandboxSpec(root=make_project(folder / f"soak-{kind}"), environment=env, masked=MASKED)
        sandbox = create_back_end(kind)
        figures = {
            **await _run_thousand(sandbox, place),
            **await _open_ten_at_once(sandbox, place),
            **await _cancel_two_hundred(sandbox, place),
        }
        print(f"\n{kind}\n\n| what | seen |\n|---|---|")
        for name, value in figures.items():
            print(f"| {name} | {value} |", flush=True)


async def _run_thousand(sandbox: Sandbox, place: SandboxSpec) -> dict[str, str]:
    session = await sandbox.open(place)
    await let_learn(session)
    for _ in range(50):  # what is allocated once is allocated now
        await verify_once(session, RIGHT, status=Status.PASSED)
    gc.collect()
    files, before = _open_file_count(), _resident_bytes()
    processes = len(_descendants(os.getpid()))
    for number in range(1000):
        right = number % 2 == 0
        await verify_once(session, RIGHT if right else WRONG, status=Status.PASSED if right else Status.FAILED)
    gc.collect()
    grown, more = _resident_bytes() - before, len(_descendants(os.getpid())) - processes
    await session.close()
    return {
        "memory after 1,000 verifications": f"{grown / 2**20:+.1f} MiB",
        "processes more, open files more": f"{more}, {_open_file_count() - files}",
        "processes left after the close": str(len(_descendants(os.getpid()))),
    }


async def _open_ten_at_once(sandbox: Sandbox, place: SandboxSpec) -> dict[str, str]:
    async def open_and_verify() -> float:
        started = time.perf_counter()
        session = await sandbox.open(place)
        try:
            for _ in range(5):
                await verify_once(session, RIGHT, status=Status.PASSED)
        finally:
            await session.close()
        return time.perf_counter() - started

    async with asyncio.timeout(300):
        seconds = sorted(await asyncio.gather(*(open_and_verify() for _ in range(10))))
    ratio = seconds[-1] / statistics.median(seconds)
    return {"10 sessions at once: slowest / median": f"{ratio:.2f} ({seconds[-1]:.1f} s)"}


async def _cancel_two_hundred(sandbox: Sandbox, place: SandboxSpec) -> dict[str, str]:
    """Cancels at random moments from boot to report, of candidates that end and of some that do not."""
    random.seed(7)
    back, dead = [], []
    mounts, folder = _mount_count(), _temporary_files()
    session = await sandbox.open(place)
    loops = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'while 1: pass'])\nwhile 1: pass\n"
    for number in range(200):
        source = loops if number % 2 else RIGHT
        run = TestRun(selectors=(CASE,), files={"m.py": source.encode()}, seconds=20.0)
        task = asyncio.ensure_future(session.run(run))
        await asyncio.wait([task], timeout=random.uniform(0.0, 0.6))
        started = time.perf_counter()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        back.append(time.perf_counter() - started)
        while _looping_processes():
            await asyncio.sleep(0.01)
            assert time.perf_counter() - started < 30, "the candidate's tree lives on"
        dead.append(time.perf_counter() - started)
    await session.close()
    left = sorted(_temporary_files() - folder)
    return {
        "200 cancels: control back, worst": f"{max(back):.2f} s",
        "200 cancels: tree dead, worst": f"{max(dead):.2f} s",
        "mounts more, temporary files left": f"{_mount_count() - mounts}, {left}",
        "processes left": str(len(_descendants(os.getpid()))),
    }


def _descendants(pid: int) -> list[int]:
    pids = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            for child in (thread / "children").read_text().split():
                pids += [int(child), *_descendants(int(child))]
    return pids


def _looping_processes() -> list[str]:
    """Processes anywhere on this machine that run the cancelled candidates' loop."""
    names = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"while 1: pass" in path.read_bytes():
                names.append(path.parent.name)
    return names


def _resident_bytes() -> int:
    """Resident bytes of this process and all below it."""
    total = 0
    for pid in (os.getpid(), *_descendants(os.getpid())):
        with contextlib.suppress(OSError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    return total


def _open_file_count() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _temporary_files() -> set[str]:
    return {path.name for path in Path(tempfile.gettempdir()).iterdir()}


def _mount_count() -> int:
    return len(Path("/proc/self/mounts").read_text().splitlines())
