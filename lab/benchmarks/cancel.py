#!/usr/bin/env python3
"""Measures the time until nothing is left of a refinement that is ended while its candidate keeps the processor busy.

    python lab/benchmarks/cancel.py [--times 5] [--sandbox bubblewrap|docker]

Each way to end one, several times, with the real server and a candidate that never ends: milliseconds from the user's
action until the candidate's process is gone; for those that end the server, until every
process that it started is gone.
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
from client import Client, start_server

LIMIT = 1000.0  # milliseconds
BUSY_SECONDS = 0.3  # seconds of processor time that nothing but a candidate uses
POLL_SECONDS = 0.002
FILES = {
    "m.py": "def double(x):\n    return x\n",
    "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
}
ENDLESS_ANSWER = "```python\ndef double(x):\n    while True:\n        pass\n```"
LONG = 120.0


def command(client: Client) -> None:
    client.request("workspace/executeCommand", {"command": "greenloop.cancel", "arguments": []})


def close(client: Client) -> None:
    client.send(method="textDocument/didClose", params={"textDocument": {"uri": client.uri("test_m.py")}})


def button(client: Client) -> None:
    client.send(method="window/workDoneProgress/cancel", params={"token": client.tokens[-1]})


def request(client: Client) -> None:
    client.send(method="$/cancelRequest", params={"id": client.refining})


def shut_down(client: Client) -> None:
    client.request("shutdown", None)
    client.send(method="exit")


def hang_up(client: Client) -> None:
    assert client.process.stdin
    client.process.stdin.close()


def terminate(client: Client) -> None:
    client.process.send_signal(signal.SIGTERM)


def kill(client: Client) -> None:
    client.process.kill()


WAYS_TO_CANCEL: tuple[Callable[[Client], None], ...] = (command, close, button, request)
WAYS_TO_END_THE_SERVER: tuple[Callable[[Client], None], ...] = (shut_down, hang_up, terminate, kill)


async def find_busy_process(server: psutil.Process, before: set[int] | None) -> psutil.Process:
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
                    if used - began.setdefault(process, used) > BUSY_SECONDS:
                        return process
            await asyncio.sleep(0.1)


async def milliseconds_until_ended(processes: Sequence[psutil.Process], began: float) -> float:
    """Milliseconds since `began` until the last of them has ended or is a zombie."""
    async with asyncio.timeout(LONG):
        while any(map(_is_running, processes)):  # noqa: ASYNC110 - nothing reports the end of another process's child
            await asyncio.sleep(POLL_SECONDS)
    return (time.perf_counter() - began) * 1000


def _is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def measure_once(way: Callable[[Client], None], sandbox: str) -> float:
    with tempfile.TemporaryDirectory(prefix="greenloop-cancel-") as name:
        root = Path(name) / "project"
        root.mkdir()
        for path, text in FILES.items():
            (root / path).write_text(text)
        script = Path(name) / "answers.jsonl"
        script.write_text(json.dumps(ENDLESS_ANSWER) + "\n")
        limits = {"sandbox.kind": sandbox, "sandbox.seconds": LONG, "sandbox.longest": LONG}
        options = {"model": f"scripted:{script}", "preset": "plain", **limits}
        before = set(psutil.pids()) if sandbox == "docker" else None
        client = await start_server(Path(name), root, FILES, options, {"window": {"workDoneProgress": True}})
        try:
            target = {"uri": client.uri("test_m.py"), "test": "test_m.py::test_double"}
            client.request("greenloop/refine", target)
            client.refining = client.last
            server = psutil.Process(client.process.pid)
            candidate = await find_busy_process(server, before)
            family = [candidate] if way in WAYS_TO_CANCEL else [candidate, *server.children(recursive=True)]
            began = time.perf_counter()
            way(client)
            return await milliseconds_until_ended(family, began)
        finally:
            if client.process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    client.process.terminate()
            await client.process.wait()


async def measure(times: int, sandbox: str) -> bool:
    print("| way | p50 ms | longest ms |\n|---|---:|---:|")
    good = True
    for way in (*WAYS_TO_CANCEL, *WAYS_TO_END_THE_SERVER):
        durations = [await measure_once(way, sandbox) for _time in range(times)]
        good &= max(durations) <= LIMIT
        print(
            f"| {way.__name__.replace('_', ' ')} | {statistics.median(durations):.0f} | {max(durations):.0f} |",
            flush=True,
        )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--sandbox", choices=("bubblewrap", "docker"), default="bubblewrap")
    arguments = parser.parse_args()
    return int(not asyncio.run(measure(arguments.times, arguments.sandbox)))


if __name__ == "__main__":
    sys.exit(main())
