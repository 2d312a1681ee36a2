#!/usr/bin/env python3
"""Time and memory from start to the reply of `initialize`: greenloop beside a bare pygls hello, interleaved.

Prints the medians and their ratios; exits 1 where a ratio is above the limit (default 1.5).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "server"
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--limit", type=float, default=1.5)
    arguments = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(arguments.runs + 1):
        for name, command in COMMANDS.items():
            found[name].append(measure(command))
    # The first round only warms the file cache.
    time_, memory = ({n: statistics.median(m[i] for m in ms[1:]) for n, ms in found.items()} for i in (0, 1))
    ratios = time_["greenloop"] / time_["hello"], memory["greenloop"] / memory["hello"]
    for name in COMMANDS:
        print(f"{name:10} {time_[name]:.3f} s {memory[name]:6.1f} MiB")
    print(f"ratio      {ratios[0]:.2f}    {ratios[1]:.2f}")
    return int(max(ratios) > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())
