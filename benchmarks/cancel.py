#!/usr/bin/env python3
"""How long it takes until nothing is left of a refinement that is ended while its candidate burns the processor.

    python benchmarks/cancel.py [--times 5] [--sandbox bubblewrap|docker]

Each way to end one, several times, with the real server and a candidate that never ends: milliseconds from the user's
deed until the candidate's process is gone; for those that end the server, until every process that it began is gone.
In Docker nothing else may begin on the machine meanwhile. Exits 1 where one took more than a second.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
from client import Client, served

LIMIT = 1000.0  # milliseconds
BURNT = 0.3  # seconds of processor time that nothing but a candidate uses
LOOK = 0.002
FILES = {
    "m.py": "def double(x):\n    return x\n",
    "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
}
FOREVER = "```python\ndef double(x):\n    while True:\n        pass\n```"
LONG = 120.0


def command(client: Client) -> None:
    client.request("workspace/executeCommand", {"command": "greenloop.cancel", "arguments": []})


def close(client: Client) -> None:
    client.send(method="textDocument/didClose", params={"textDocument": {"uri": client.uri("test_m.py")}})


def button(client: Client) -> None:
    client.send(method="window/workDoneProgress/cancel", params={"token": client.tokens[-1]})


def request(client: Client) -> None:
    client.send(method="$/cancelRequest", params={"id": client.refining})


def goodbye(client: Client) -> None:
    client.request("shutdown", None)
    client.send(method="exit")


def hang_up(client: Client) -> None:
    assert client.process.stdin
    client.process.stdin.close()


def terminate(client: Client) -> None:
    client.process.send_signal(signal.SIGTERM)


def kill(client: Client) -> None:
    client.process.kill()


LIVING: tuple[Callable[[Client], None], ...] = (command, close, button, request)
ENDING: tuple[Callable[[Client], None], ...] = (goodbye, hang_up, terminate, kill)


async def burning(server: psutil.Process, before: set[int] | None) -> psutil.Process:
    """The candidate: the server's descendant that uses the processor.

    With `before`, any process younger than those: in a container it is not the server's, and nothing else may begin.
    """
    began: dict[psutil.Process, float] = {}
    async with asyncio.timeout(LONG):
        while True:
            for process in server.children(recursive=True) if before is None else list(psutil.process_iter()):
                with contextlib.suppress(psutil.NoSuchProcess):
                    if before is not None and (process.pid in before or process.pid == server.pid):
                        continue
                    used = process.cpu_times().user
                    if used - began.setdefault(process, used) > BURNT:
                        return process
            await asyncio.sleep(0.1)


async def gone(processes: Sequence[psutil.Process], began: float) -> float:
    """Milliseconds since `began` until the last of them is no more, or a zombie."""
    async with asyncio.timeout(LONG):
        while any(map(_runs, processes)):  # noqa: ASYNC110 - nobody tells when a stranger's process ends
            await asyncio.sleep(LOOK)
    return (time.perf_counter() - began) * 1000


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def once(way: Callable[[Client], None], sandbox: str) -> float:
    with tempfile.TemporaryDirectory(prefix="greenloop-cancel-") as name:
        root = Path(name) / "project"
        root.mkdir()
        for path, text in FILES.items():
            (root / path).write_text(text)
        script = Path(name) / "answers.jsonl"
        script.write_text(json.dumps(FOREVER) + "\n")
        limits = {"sandbox.kind": sandbox, "sandbox.seconds": LONG, "sandbox.longest": LONG}
        options = {"model": f"scripted:{script}", "preset": "plain", **limits}
        before = set(psutil.pids()) if sandbox == "docker" else None
        client = await served(Path(name), root, FILES, options, {"window": {"workDoneProgress": True}})
        try:
            target = {"uri": client.uri("test_m.py"), "test": "test_m.py::test_double"}
            client.request("greenloop/refine", target)
            client.refining = client.last
            server = psutil.Process(client.process.pid)
            candidate = await burning(server, before)
            family = [candidate] if way in LIVING else [candidate, *server.children(recursive=True)]
            began = time.perf_counter()
            way(client)
            return await gone(family, began)
        finally:
            if client.process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    client.process.terminate()
            await client.process.wait()


async def measured(times: int, sandbox: str) -> bool:
    print("| way | p50 ms | longest ms |\n|---|---:|---:|")
    good = True
    for way in (*LIVING, *ENDING):
        found = [await once(way, sandbox) for _time in range(times)]
        good &= max(found) <= LIMIT
        print(f"| {way.__name__.replace('_', ' ')} | {statistics.median(found):.0f} | {max(found):.0f} |", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--sandbox", choices=("bubblewrap", "docker"), default="bubblewrap")
    arguments = parser.parse_args()
    return int(not asyncio.run(measured(arguments.times, arguments.sandbox)))


if __name__ == "__main__":
    sys.exit(main())
