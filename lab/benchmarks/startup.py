#!/usr/bin/env python3
"""Compares the start of the language server with a minimal pygls server.

1. Time and memory until the reply of `initialize`, both servers in turns, medians.
2. Whether litellm or docker is imported before the first run.
Exits 1 where a ratio is above `--limit` or a heavy import is found. How fast it answers: lsp.py.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "server"
HELLO = """
from lsprotocol import types
from pygls.lsp.server import LanguageServer
server = LanguageServer("hello", "1")
@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params: types.HoverParams):
    return None
server.start_io()
"""
COMMANDS = {"hello": [sys.executable, "-c", HELLO], "greenloop": [sys.executable, "-m", "greenloop", "serve"]}
HEAVY = ("litellm", "docker")


def measure(command: list[str]) -> tuple[float, float]:
    """Seconds until the reply, and mebibytes of resident memory then."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    began = time.perf_counter()
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    assert server.stdin
    assert server.stdout
    params = {"processId": None, "rootUri": None, "capabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()
    server.stdout.readline()
    seconds = time.perf_counter() - began
    status = Path(f"/proc/{server.pid}/status").read_text()
    memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
    server.kill()
    server.wait()
    return seconds, memory


def compare_with_hello(runs: int) -> dict[str, tuple[float, float]]:
    """Median seconds and mebibytes by server."""
    measurements: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(runs + 1):
        for name, command in COMMANDS.items():
            measurements[name].append(measure(command))
    # The first round only warms the file cache.
    return {
        name: (statistics.median(s for s, _ in rows[1:]), statistics.median(m for _, m in rows[1:]))
        for name, rows in measurements.items()
    }


def find_heavy_imports() -> list[str]:
    code = f"import sys, greenloop.lsp.server; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--limit", type=float, default=1.5, help="highest ratio to the hello (default 1.5)")
    arguments = parser.parse_args()
    servers = compare_with_hello(arguments.runs)
    for name, (seconds, memory) in servers.items():
        print(f"{name:10} {seconds:.3f} s {memory:6.1f} MiB")
    ratios = [mine / hello for mine, hello in zip(servers["greenloop"], servers["hello"], strict=True)]
    print(f"ratio      {ratios[0]:.2f}    {ratios[1]:.2f}")
    heavy = find_heavy_imports()
    print(f"imported before the first run, of {', '.join(HEAVY)}: {', '.join(heavy) or 'none'}")
    return int(max(ratios) > arguments.limit or bool(heavy))


if __name__ == "__main__":
    sys.exit(main())
