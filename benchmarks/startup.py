#!/usr/bin/env python3
"""The language server beside a bare pygls hello, and how fast it answers while a run is under way.

1. Time and memory until the reply of `initialize`, both servers in turns, medians (see initialize.py).
2. Whether litellm or docker is imported before the first run.
3. Code action and hover, asked every PAUSE seconds while a scripted run keeps the sandbox busy: median and p95.
Exits 1 where a ratio is above `--limit`, a p95 is above `--answer` milliseconds, or a heavy import is found.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from initialize import COMMANDS, SOURCES, measure

PAUSE = 0.05
HEAVY = ("litellm", "docker")
MODULE = "def double(x):\n    return x\n"
TESTS = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n"


def beside_hello(runs: int) -> dict[str, tuple[float, float]]:
    """Median seconds and mebibytes by server."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(runs + 1):
        for name, command in COMMANDS.items():
            found[name].append(measure(command))
    # The first round only warms the file cache.
    return {
        name: (statistics.median(s for s, _ in rows[1:]), statistics.median(m for _, m in rows[1:]))
        for name, rows in found.items()
    }


def heavy_imports() -> list[str]:
    code = f"import sys, greenloop.lsp.server; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()


class Client:
    """Owns a server process and its pending requests."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.pending: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self.last = 0
        self.reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout
        while (head := await self.process.stdout.readline()).startswith(b"Content-Length:"):
            while await self.process.stdout.readline() != b"\r\n":
                pass
            message = json.loads(await self.process.stdout.readexactly(int(head.split(b":")[1])))
            if "method" not in message and message["id"] in self.pending:
                self.pending.pop(message["id"]).set_result(message)
        for future in self.pending.values():
            future.set_exception(ConnectionError("the server has ended"))

    def send(self, **message: Any) -> None:
        assert self.process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def request(self, method: str, params: Any) -> asyncio.Future[Mapping[str, Any]]:
        self.last += 1
        future = self.pending[self.last] = asyncio.get_running_loop().create_future()
        self.send(id=self.last, method=method, params=params)
        return future


async def while_running(attempts: int, sandbox: str) -> tuple[dict[str, list[float]], Mapping[str, Any]]:
    """Milliseconds of every answer by method, and the reply to the run."""
    with tempfile.TemporaryDirectory(prefix="greenloop-startup-") as name:
        root = Path(name) / "project"
        root.mkdir()
        (root / "m.py").write_text(MODULE)
        # The plugins of the environment this script runs in are slow to import and no part of the question.
        (root / "pytest.ini").write_text("[pytest]\naddopts = --disable-plugin-autoload\n")
        (root / "test_m.py").write_text(TESTS)
        script = Path(name) / "answers.jsonl"
        wrong = (f"```python\ndef double(x):\n    return x + {10 + n}\n```" for n in range(attempts))
        script.write_text("".join(json.dumps(answer) + "\n" for answer in wrong))
        process = await asyncio.create_subprocess_exec(
            *COMMANDS["greenloop"],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(SOURCES), "XDG_STATE_HOME": f"{name}/state"},
        )
        try:
            options = {
                "model": f"scripted:{script}",
                "preset": "plain",
                "attempts": attempts,
                "sandbox.kind": sandbox,
                "interpreter": sys.executable,
            }
            return await _asked(Client(process), root, options)
        finally:
            process.kill()
            await process.wait()


async def _asked(
    client: Client, root: Path, options: dict[str, Any]
) -> tuple[dict[str, list[float]], Mapping[str, Any]]:
    folders = [{"uri": root.as_uri(), "name": "project"}]
    start = {"processId": None, "rootUri": root.as_uri(), "workspaceFolders": folders, "capabilities": {}}
    await client.request("initialize", {**start, "initializationOptions": options})
    client.send(method="initialized", params={})
    for file in ("m.py", "test_m.py"):
        item = {"uri": (root / file).as_uri(), "languageId": "python", "version": 0, "text": (root / file).read_text()}
        client.send(method="textDocument/didOpen", params={"textDocument": item})
    test = {"uri": (root / "test_m.py").as_uri()}
    here = {"line": 3, "character": 6}
    questions = {
        "textDocument/codeAction": {
            "textDocument": test,
            "range": {"start": here, "end": here},
            "context": {"diagnostics": []},
        },
        "textDocument/hover": {"textDocument": test, "position": here},
    }
    run = client.request("greenloop/refine", {"uri": test["uri"], "position": here})
    times: dict[str, list[float]] = {method: [] for method in questions}
    while not run.done():
        for method, params in questions.items():
            began = time.perf_counter()
            await client.request(method, params)
            times[method].append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(PAUSE)
    return times, await run


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--limit", type=float, default=1.5, help="highest ratio to the hello (default 1.5)")
    parser.add_argument("--answer", type=float, default=100.0, help="highest p95 in milliseconds (default 100)")
    parser.add_argument("--attempts", type=int, default=60, help="length of the scripted run")
    parser.add_argument("--sandbox", default="bubblewrap")
    arguments = parser.parse_args()
    servers = beside_hello(arguments.runs)
    for name, (seconds, memory) in servers.items():
        print(f"{name:10} {seconds:.3f} s {memory:6.1f} MiB")
    ratios = [mine / hello for mine, hello in zip(servers["greenloop"], servers["hello"], strict=True)]
    print(f"ratio      {ratios[0]:.2f}    {ratios[1]:.2f}")
    heavy = heavy_imports()
    print(f"imported before the first run, of {', '.join(HEAVY)}: {', '.join(heavy) or 'none'}")
    times, reply = asyncio.run(while_running(arguments.attempts, arguments.sandbox))
    result = reply.get("result") or {}
    print(f"while a run of {result.get('attempts')} attempts is under way in {arguments.sandbox}:")
    slow = False
    for method, values in times.items():
        # A run that ends at once measures nothing.
        slow |= len(values) < 20 or p95(values) > arguments.answer
        print(
            f"  {method:24} {len(values):4} times, median {statistics.median(values):.1f} ms, p95 {p95(values):.1f} ms"
        )
    return int(max(ratios) > arguments.limit or bool(heavy) or slow)


if __name__ == "__main__":
    sys.exit(main())
