"""The embedded model's server: one process a user, shared by editors and the command line.

In the state folder: `embedded.lock` is held by the server as long as it lives and has its pid in it,
`embedded.json` (readable by the user alone) says where it listens and with which key, `embedded.log` has what it said.
The lock, not the file, says whether there is a server: a killed one never leaves a stale lock.
This module must not know what is asked of the model.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import httpx
import psutil

from greenloop.core.errors import ModelProblem
from greenloop.embedded import lock, machine, weights
from greenloop.settings import Settings, state_folder

# Seconds that loading may take (a cold, slow disk) and that an end may take before it is forced.
LOADING = 180.0
ENDING = 5.0
LOG_BYTES = 1_000_000
CHILD = "greenloop.embedded.child"


@dataclass(frozen=True, kw_only=True)
class Running:
    """A server that listens on 127.0.0.1. `key` is asked for on every request.

    `context`: tokens of one request with its answer; `slots`: requests that are answered side by side.
    """

    port: int
    key: str
    pid: int
    context: int
    threads: int
    slots: int = 1

    @property
    def base(self) -> str:
        """What OpenAI-compatible clients want as base URL."""
        return f"http://127.0.0.1:{self.port}/v1"


def lock_file() -> Path:
    return state_folder() / "embedded.lock"


def state_file() -> Path:
    return state_folder() / "embedded.json"


def log_file() -> Path:
    return state_folder() / "embedded.log"


def status() -> Running | None:
    """The server that runs and has loaded its model, or None. Asks the file system only."""
    if not lock.held(lock_file()):
        return None
    try:
        running = Running(**json.loads(state_file().read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    # Otherwise the file is a dead server's, and the one that has the lock is still loading.
    return running if running.pid == _holder() else None


async def start(
    settings: Settings, *, file: Path | None = None, say: Callable[[str], None] = lambda _: None
) -> Running:
    """The running server, started when there is none (or none that answers, or a smaller one).

    `file` are other weights than greenloop's own. Raises `ModelProblem` when the weights are absent, when this machine
    cannot run them, or when the server does not come up.
    """
    running = status()
    if running is not None and _suits(running, settings) and await answers(running):
        return running
    path = file or weights.present()
    if path is None:
        raise ModelProblem(
            "The embedded model is not downloaded yet.",
            remedy="Run `greenloop model pull` (1.1 GB, once), or name another model (setting `model`).",
        )
    async with lock.exclusive(state_folder() / "embedded.start.lock"):
        # Another process may have been quicker, or be loading it right now.
        running = await _joined(settings)
        if running is not None:
            return running
        machine.check(path.stat().st_size, settings.embedded.context * settings.embedded.slots)
        say("loading the embedded model")
        return await _loaded(_spawn(path, settings))


async def stop() -> bool:
    """Ends the server, by force if it must be; False when there was none."""
    if not lock.held(lock_file()):
        return False
    pid = _holder()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        end = monotonic() + ENDING
        while monotonic() < end:
            if not lock.held(lock_file()):
                state_file().unlink(missing_ok=True)
                return True
            await asyncio.sleep(lock.INTERVAL / 4)
    raise ModelProblem(f"The embedded model's server (process {pid}) does not end.", remedy="End the process yourself.")


async def answers(running: Running) -> bool:
    """Whether the server reacts at all."""
    try:
        async with httpx.AsyncClient(trust_env=False, verify=False, timeout=5) as client:  # noqa: S501 - plain http
            response = await client.get(f"http://127.0.0.1:{running.port}/health")
    except httpx.HTTPError:
        return False
    return response.status_code == httpx.codes.OK


def _suits(running: Running, settings: Settings) -> bool:
    wanted = settings.embedded
    return running.context >= wanted.context and running.slots >= wanted.slots


def _holder() -> int:
    """The pid in the lock file if it is a server's; 0 when that cannot be said."""
    try:
        pid = int(lock_file().read_text(encoding="ascii"))
        return pid if CHILD in psutil.Process(pid).cmdline() else 0
    except (OSError, ValueError, psutil.Error):
        return 0


def _spawn(path: Path, settings: Settings) -> subprocess.Popen[bytes]:
    state_file().unlink(missing_ok=True)
    log = log_file()
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.unlink()
    orders = {
        "model": str(path),
        "context": settings.embedded.context,
        "slots": settings.embedded.slots,
        "threads": settings.embedded.threads or machine.threads(),
        "idle": settings.embedded.idle,
        "nice": settings.embedded.nice,
    }
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # -P and the folder: nothing is imported from where the user happens to be, and no disk is kept busy.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", CHILD, json.dumps(orders)],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            cwd=state_folder(),
            start_new_session=True,
            env=_environment(),
        )
    finally:
        os.close(descriptor)
    # Somebody must take note of its end, or a dead server stays in the process table.
    threading.Thread(target=process.wait, daemon=True, name="embedded-model-end").start()
    return process


def _environment() -> dict[str, str]:
    # Threads that spin long while they wait take the cores away from those they wait for: on a busy machine the model
    # then writes ten times slower. Not to spin at all costs a third of the speed on a quiet one.
    environ = {"GOMP_SPINCOUNT": "1000", **os.environ}
    if "PYTHONPATH" in environ:
        # The server runs in another folder than the one these may be relative to.
        entries = [str(Path(entry).absolute()) for entry in environ["PYTHONPATH"].split(os.pathsep) if entry]
        environ["PYTHONPATH"] = os.pathsep.join(entries)
    return environ


async def _joined(settings: Settings) -> Running | None:
    """The server that is there, once it has loaded; one that does not suit or does not answer is ended."""
    end = monotonic() + LOADING
    while lock.held(lock_file()):
        running = status()
        if running is not None and _suits(running, settings) and await answers(running):
            return running
        if running is not None or monotonic() > end:
            await stop()
            return None
        # It is still loading, or dying: its lock tells which.
        await asyncio.sleep(lock.INTERVAL / 2)
    return None


async def _loaded(process: subprocess.Popen[bytes]) -> Running:
    """Waits until the new server says where it listens."""
    end = monotonic() + LOADING
    while monotonic() < end:
        running = status()
        if running is not None:
            return running
        if process.returncode is not None:
            raise _failure(process.returncode)
        await asyncio.sleep(lock.INTERVAL / 2)
    await stop()
    raise ModelProblem(f"The embedded model did not load within {LOADING:.0f} seconds.", remedy=machine.ANOTHER)


def _failure(code: int) -> ModelProblem:
    if code == -signal.SIGKILL:
        return ModelProblem(
            "The embedded model's server was killed while loading.",
            remedy=f"It may have run out of memory. {machine.ANOTHER}",
        )
    if code == -signal.SIGILL:
        return ModelProblem("This processor cannot run the embedded model's engine.", remedy=machine.ANOTHER)
    return ModelProblem(
        "The embedded model's server ended before it was ready.",
        remedy=f"{log_file()} says why. {machine.ANOTHER}",
    )
