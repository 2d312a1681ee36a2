"""The process that is the embedded model's server: `python -m greenloop.embedded.child ORDERS`.

ORDERS is a JSON object: model (path), context (tokens of one request), slots (requests side by side), threads, idle
(seconds), nice (steps below normal priority); for experiments also speculate (false: not) and cache (`PROMPT_CACHE`).
It ends by itself when nothing was asked for the idle time, on SIGTERM, and when its lock file is taken away.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import sys
import threading
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from greenloop.embedded import lock
from greenloop.embedded.server import lock_file, state_file

# Mebibytes of prompts that stay in memory beside the slot's own, for runs that take turns.
PROMPT_CACHE = 256
# Answers that repeat code of the prompt are proposed this many tokens at a time, after this many equal ones.
SPECULATED = 48
EQUAL = 8


def main(orders: dict[str, Any]) -> int:
    descriptor = insist(lock_file())
    if descriptor is None:
        print("another server is running", file=sys.stderr)  # noqa: T201 - the log
        return 0
    state_file().unlink(missing_ok=True)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, str(os.getpid()).encode())
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    key = secrets.token_urlsafe(32)
    os.nice(orders["nice"])
    server = load(orders, key)
    publish(
        {
            "port": urlsplit(server.listening_address).port,
            "key": key,
            "pid": os.getpid(),
            "context": orders["context"],
            "slots": orders["slots"],
            "threads": orders["threads"],
        }
    )
    wait(server, float(orders["idle"]), ended)
    state_file().unlink(missing_ok=True)
    # The engine's own threads are not worth waiting for.
    os._exit(0)


def insist(path: Path) -> int | None:
    """The lock, or None when another server has it; those who only look let go at once."""
    for _ in range(20):
        descriptor = lock.take(path)
        if descriptor is not None:
            return descriptor
        sleep(0.05)
    return None


def load(orders: dict[str, Any], key: str) -> Any:
    """The engine with the model in memory, listening on a free port of this machine alone."""
    import xllamacpp  # noqa: PLC0415 - heavy, and not there without the extra

    params = xllamacpp.CommonParams()
    params.model.path = orders["model"]
    params.n_ctx = orders["context"] * orders["slots"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = orders["threads"]
    # Each slot reads its own prompt, even where another has read the same: only many cores make good for that.
    params.n_parallel = orders["slots"]
    params.cache_ram_mib = orders.get("cache", PROMPT_CACHE)
    # Progress is told, and a closed connection noticed, after each batch.
    params.n_batch = 512
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    params.endpoint_metrics = True
    if orders.get("speculate", True):
        speculate(xllamacpp, params)
    return xllamacpp.Server(params)


def speculate(xllamacpp: ModuleType, params: Any) -> None:
    """Lets the prompt propose the answer's next tokens, where the engine's version can; the text stays the same."""
    kinds = getattr(xllamacpp, "common_speculative_type", None)
    kind = getattr(kinds, "COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE", None)
    if kind is None or not hasattr(params.speculative, "ngram_simple"):
        return
    params.speculative.types = [kind]
    params.speculative.ngram_simple.size_n = EQUAL
    params.speculative.ngram_simple.size_m = SPECULATED


def publish(running: dict[str, Any]) -> None:
    """Tells where the server is, to the user alone, whole or not at all."""
    target = state_file()
    temporary = target.with_suffix(".tmp")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(running, file)
    temporary.replace(target)


def wait(server: Any, idle: float, ended: threading.Event) -> None:
    """Returns when it is time to end."""
    seen, since = activity(server), monotonic()
    while not ended.wait(min(idle / 4, 5.0)):
        now = activity(server)
        if now != seen or busy(now):
            seen, since = now, monotonic()
        if monotonic() - since >= idle or not owns(lock_file()):
            return


def activity(server: Any) -> dict[str, float]:
    """The engine's counters of requests and tokens."""
    text = str(server.handle_metrics())
    pattern = r"llamacpp:(requests_\w+|prompt_tokens_total|tokens_predicted_total)\s+([\d.e+]+)"
    return {name: float(value) for name, value in re.findall(pattern, text)}


def busy(counters: dict[str, float]) -> bool:
    return counters.get("requests_processing", 0) + counters.get("requests_deferred", 0) > 0


def owns(path: Path) -> bool:
    """Whether the lock file is still this process's."""
    try:
        return path.read_text(encoding="ascii") == str(os.getpid())
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
