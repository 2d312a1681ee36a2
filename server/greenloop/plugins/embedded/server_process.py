"""Server process of the embedded model: `python -m greenloop.plugins.embedded.server_process OPTIONS`.

OPTIONS is a JSON object: model (path), context (tokens of one request), slots (concurrent requests), threads, idle
(seconds), nice (steps below normal priority), name (of the model), gpu_layers (-1: as many as fit); for experiments
also speculate (false: off) and cache (prompt cache in MiB).
It exits after the idle time without requests, on SIGTERM, and when its lock file is removed or replaced.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import threading
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from greenloop.plugins.embedded import lock
from greenloop.plugins.embedded.server import is_answering, lock_file, parse_counters, state_file

# Mebibytes of prompts kept in memory in addition to the slot's own, for runs that alternate.
PROMPT_CACHE = 256
# Speculative decoding for answers that repeat the prompt: proposes this many tokens after this many equal ones.
SPECULATED = 48
EQUAL = 8


def main(options: dict[str, Any]) -> int:
    """Runs the server until it is time to exit; returns at once if another one is running."""
    descriptor = take_lock(lock_file())
    if descriptor is None:
        print("another server is running", file=sys.stderr)  # noqa: T201 - the log
        return 0
    state_file().unlink(missing_ok=True)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    key = secrets.token_urlsafe(32)
    os.nice(options["nice"])
    server = load(options, key)
    publish(
        {
            "port": urlsplit(server.listening_address).port,
            "key": key,
            "pid": os.getpid(),
            "context": options["context"],
            "slots": options["slots"],
            "threads": options["threads"],
            "model": options["name"],
            "gpu_layers": options["gpu_layers"],
        }
    )
    wait(server, float(options["idle"]), stopped)
    state_file().unlink(missing_ok=True)
    # Exits without waiting for the engine's own threads.
    os._exit(0)


def take_lock(path: Path) -> int | None:
    """Takes the lock, or returns None if another server has it; retries, because probes hold it for an instant."""
    for _ in range(20):
        descriptor = lock.take(path)
        if descriptor is not None:
            return descriptor
        sleep(0.05)
    return None


def load(options: dict[str, Any], key: str) -> Any:
    """Loads the model and starts the engine, listening on a free port of the loopback address."""
    import xllamacpp  # noqa: PLC0415 - heavy, and not installed without the extra

    params = xllamacpp.CommonParams()
    params.model.path = options["model"]
    params.n_ctx = options["context"] * options["slots"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options["threads"]
    # Without effect in a build without a GPU backend; by default the engine takes as many as fit.
    if options["gpu_layers"] >= 0:
        params.n_gpu_layers = options["gpu_layers"]
    # Each slot processes its own prompt, even if another has processed the same: only many cores make up for that.
    params.n_parallel = options["slots"]
    params.cache_ram_mib = options.get("cache", PROMPT_CACHE)
    # Progress is reported, and a closed connection noticed, after each batch.
    params.n_batch = 512
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    params.endpoint_metrics = True
    if options.get("speculate", True):
        speculate(xllamacpp, params)
    return xllamacpp.Server(params)


def speculate(xllamacpp: ModuleType, params: Any) -> None:
    """Enables speculative decoding from the prompt if the engine supports it; the answer's text stays the same."""
    kinds = getattr(xllamacpp, "common_speculative_type", None)
    kind = getattr(kinds, "COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE", None)
    if kind is None or not hasattr(params.speculative, "ngram_simple"):
        return
    params.speculative.types = [kind]
    params.speculative.ngram_simple.size_n = EQUAL
    params.speculative.ngram_simple.size_m = SPECULATED


def publish(running: dict[str, Any]) -> None:
    """Writes the server's address to the state file, atomically and readable only by the user."""
    target = state_file()
    temporary = target.with_suffix(".tmp")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(running, file)
    temporary.replace(target)


def wait(server: Any, idle: float, stopped: threading.Event) -> None:
    """Returns when the server has been idle for `idle` seconds, was signalled, or lost its lock file."""
    last_counters, last_active = activity(server), monotonic()
    while not stopped.wait(min(idle / 4, 5.0)):
        counters = activity(server)
        if counters != last_counters or is_answering(counters):
            last_counters, last_active = counters, monotonic()
        if monotonic() - last_active >= idle or not owns_lock(lock_file()):
            return


def activity(server: Any) -> dict[str, float]:
    """Reads the engine's counters of requests and tokens."""
    return parse_counters(str(server.handle_metrics()))


def owns_lock(path: Path) -> bool:
    """Does the lock file still name this process?"""
    try:
        return path.read_text(encoding="ascii") == str(os.getpid())
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
