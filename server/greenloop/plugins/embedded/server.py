"""The embedded model's server: one process per user, shared by editors and the command line.

In the state folder, `embedded.lock` contains the server's pid and is held as long as the server lives;
`embedded.json` (readable only by the user) has its port and key, `embedded.log` its output.
The lock, not the file, decides whether a server is running: a killed one never leaves a stale lock.
This module must not know what the requests to the model are.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import httpx
import psutil

from greenloop.core.errors import ModelError
from greenloop.plugins.embedded import catalogue, hardware, lock, weights
from greenloop.plugins.embedded.catalogue import EmbeddedModel
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.project.settings import Settings, state_folder

# Seconds that loading may take (a cold, slow disk), and that stopping may take before the process is killed.
LOAD_SECONDS = 180.0
STOP_SECONDS = 5.0
LOG_BYTES = 1_000_000
SERVER_MODULE = "greenloop.plugins.embedded.server_process"


@dataclass(frozen=True, kw_only=True)
class RunningServer:
    """A server that listens on 127.0.0.1 and requires `key` on every request.

    `context`: tokens of one request with its answer; `slots`: requests that are answered concurrently; `model`: the
    name of its model; `gpu_layers`: how many of its layers a GPU was asked to hold (-1: as many as fit).
    """

    port: int
    key: str
    pid: int
    context: int
    threads: int
    slots: int = 1
    model: str = catalogue.DEFAULT
    gpu_layers: int = -1

    @property
    def base(self) -> str:
        """The base URL for OpenAI-compatible clients."""
        return f"http://127.0.0.1:{self.port}/v1"


def lock_file() -> Path:
    return state_folder() / "embedded.lock"


def state_file() -> Path:
    return state_folder() / "embedded.json"


def log_file() -> Path:
    return state_folder() / "embedded.log"


def status() -> RunningServer | None:
    """The server that is running with its model loaded, or None. Reads only the file system."""
    if not lock.held(lock_file()):
        return None
    try:
        running = RunningServer(**json.loads(state_file().read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    # Otherwise the file is that of a dead server, and the one that holds the lock is still loading.
    return running if running.pid == _lock_holder() else None


async def start(
    settings: Settings,
    model: EmbeddedModel | None = None,
    *,
    file: Path | None = None,
    report_status: Callable[[str], None] = lambda _: None,
) -> RunningServer:
    """The server running with that model (the default one if none is given); starts one if there is none.

    One that does not respond, is too small or has another model is replaced; there is one at a time.
    `file`: weights other than greenloop's own. Raises `ModelError` if the weights are missing, if this machine
    cannot run them, or if the server does not start.
    """
    model = model or catalogue.find(catalogue.DEFAULT)
    running = status()
    if running is not None and _is_suitable(running, settings, model) and await is_responding(running):
        return running
    path = file or weights.downloaded_file(model)
    if path is None:
        size = f" ({model.size / 1e9:.1f} GB, once)" if model.size else ""
        raise ModelError(
            f"The embedded model {model.name} is not downloaded yet.",
            remedy=f"Run `{model.pull_command}`{size}, or name another model (setting `model`).",
        )
    _check_state_folder()
    async with lock.exclusive(state_folder() / "embedded.start.lock"):
        # Another process may have started it meanwhile, or be loading it right now.
        running = await _wait_for_existing(settings, model)
        if running is not None:
            return running
        hardware.check(model, settings.of(EmbeddedSettings))
        report_status(f"loading the embedded model {model.name}")
        return await _wait_until_loaded(_spawn(path, settings, model))


def _check_state_folder() -> None:
    try:
        state_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(log_file(), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError as error:
        raise ModelError(
            f"The embedded model cannot write its log to {state_folder()} ({error.strerror}).",
            remedy="Make the folder writable, or set XDG_STATE_HOME to another one.",
        ) from error


async def stop() -> bool:
    """Stops the server, by force if necessary; False if there was none."""
    if not lock.held(lock_file()):
        return False
    pid = _lock_holder()
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal_number)
        deadline = monotonic() + STOP_SECONDS
        while monotonic() < deadline:
            if not lock.held(lock_file()):
                state_file().unlink(missing_ok=True)
                return True
            await asyncio.sleep(lock.INTERVAL / 4)
    raise ModelError(f"The embedded model's server (process {pid}) does not stop.", remedy="Stop the process yourself.")


async def is_responding(running: RunningServer) -> bool:
    """Does the server respond?"""
    response = await _get(running, "health")
    return response is not None and response.status_code == httpx.codes.OK


async def _is_busy(running: RunningServer) -> bool:
    """Is it answering a request? A server that does not say is not busy."""
    response = await _get(running, "metrics")
    return response is not None and is_answering(parse_counters(response.text))


async def _get(running: RunningServer, page: str) -> httpx.Response | None:
    url, headers = f"http://127.0.0.1:{running.port}/{page}", {"Authorization": f"Bearer {running.key}"}
    try:
        async with httpx.AsyncClient(trust_env=False, verify=False, timeout=5) as client:  # noqa: S501 - plain http
            return await client.get(url, headers=headers)
    except httpx.HTTPError:
        return None


def parse_counters(metrics: str) -> dict[str, float]:
    """The engine's counters of requests and tokens, in the text of its metrics."""
    pattern = r"llamacpp:(requests_\w+|prompt_tokens_total|tokens_predicted_total)\s+([\d.e+]+)"
    return {name: float(value) for name, value in re.findall(pattern, metrics)}


def is_answering(counters: dict[str, float]) -> bool:
    """Do the counters tell of requests that are being answered, or wait for it?"""
    return counters.get("requests_processing", 0) + counters.get("requests_deferred", 0) > 0


def _is_suitable(running: RunningServer, settings: Settings, model: EmbeddedModel) -> bool:
    required = settings.of(EmbeddedSettings)
    return (
        running.model == model.name
        and running.context >= catalogue.context_of(model, required)
        and running.slots >= required.slots
        and running.gpu_layers == required.gpu
    )


def _lock_holder() -> int:
    """The pid in the lock file if it is that of a server, else 0."""
    try:
        pid = int(lock_file().read_text(encoding="ascii"))
        return pid if SERVER_MODULE in psutil.Process(pid).cmdline() else 0
    except (OSError, ValueError, psutil.Error):
        return 0


def _spawn(path: Path, settings: Settings, model: EmbeddedModel) -> subprocess.Popen[bytes]:
    state_file().unlink(missing_ok=True)
    log_path = log_file()
    if log_path.exists() and log_path.stat().st_size > LOG_BYTES:
        log_path.unlink()
    options = {
        "model": str(path),
        "name": model.name,
        "context": catalogue.context_of(model, settings.of(EmbeddedSettings)),
        "slots": settings.of(EmbeddedSettings).slots,
        "threads": settings.of(EmbeddedSettings).threads or hardware.thread_count(),
        "gpu_layers": settings.of(EmbeddedSettings).gpu,
        "idle": settings.of(EmbeddedSettings).idle,
        "nice": settings.of(EmbeddedSettings).nice,
    }
    descriptor = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # -P and the folder: nothing is imported from the user's current folder, and its disk can be unmounted.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", SERVER_MODULE, json.dumps(options)],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            cwd=state_folder(),
            start_new_session=True,
            env=_environment(),
        )
    finally:
        os.close(descriptor)
    # Reaps the server when it exits, so that it does not stay in the process table.
    threading.Thread(target=process.wait, daemon=True, name="embedded-model-end").start()
    return process


def _environment() -> dict[str, str]:
    # Threads that spin long while waiting take cores from those they wait for: on a busy machine the model then writes
    # ten times slower. Not spinning at all costs a third of the speed on an idle one.
    environ = {"GOMP_SPINCOUNT": "1000", **os.environ}
    if "PYTHONPATH" in environ:
        # The server runs in another folder, so relative entries must become absolute.
        entries = [str(Path(entry).absolute()) for entry in environ["PYTHONPATH"].split(os.pathsep) if entry]
        environ["PYTHONPATH"] = os.pathsep.join(entries)
    return environ


async def _wait_for_existing(
    settings: Settings,
    model: EmbeddedModel,
    seconds: float = LOAD_SECONDS,
    end: Callable[[], Awaitable[object]] = stop,
) -> RunningServer | None:
    """Waits until the existing server has loaded; stops one that is not suitable or does not respond.

    One with another model is stopped when it has answered its requests, or after as long as loading may take.
    """
    deadline = monotonic() + seconds
    while lock.held(lock_file()):
        running = status()
        if running is not None and _is_suitable(running, settings, model) and await is_responding(running):
            return running
        is_others = running is not None and running.model != model.name and await _is_busy(running)
        if (running is not None and not is_others) or monotonic() > deadline:
            await end()
            return None
        # It is still loading, answering, or exiting: its lock tells which.
        await asyncio.sleep(lock.INTERVAL / 2)
    return None


async def _wait_until_loaded(process: subprocess.Popen[bytes]) -> RunningServer:
    """Waits until the new server has published its address."""
    deadline = monotonic() + LOAD_SECONDS
    while monotonic() < deadline:
        running = status()
        if running is not None:
            return running
        if process.returncode is not None:
            raise _failure(process.returncode)
        await asyncio.sleep(lock.INTERVAL / 2)
    await stop()
    raise ModelError(f"The embedded model did not load within {LOAD_SECONDS:.0f} seconds.", remedy=hardware.ANOTHER)


def _failure(code: int) -> ModelError:
    if code == -signal.SIGKILL:
        return ModelError(
            "The embedded model's server was killed while loading.",
            remedy=f"It may have run out of memory. {hardware.ANOTHER}",
        )
    if code == -signal.SIGILL:
        return ModelError("This processor cannot run the embedded model's engine.", remedy=hardware.ANOTHER)
    return ModelError(
        "The embedded model's server exited before it was ready.",
        remedy=f"See {log_file()} for the reason. {hardware.ANOTHER}",
    )
