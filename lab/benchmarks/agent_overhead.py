#!/usr/bin/env python3
"""Compares a call of a tool by the Model Context Protocol, over standard input and output, with the same in process.

The two take turns; the median of both and of their differences is printed. Exits 1 where a median difference is above
`--limit`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from greenloop.plugins.agents.mcp.tools.history import history
from greenloop.plugins.agents.mcp.tools.run_tests import run_tests
from greenloop.plugins.agents.service import Service

SETTINGS = {"sandbox.kind": "bubblewrap", "interpreter": sys.executable}
CALLS: dict[str, tuple[Callable[..., Awaitable[Any]], dict[str, Any]]] = {
    "history": (history, {}),
    "run_tests": (run_tests, {"selectors": ["test_one.py"]}),
}


async def measure(root: Path, runs: int) -> dict[str, list[tuple[float, float]]]:
    """Pairs of seconds, by protocol and in process, for each tool; the first pair only warms."""
    service = Service(roots=(root,), overrides=SETTINGS)
    context = SimpleNamespace(request_context=SimpleNamespace(lifespan_context=service), report_progress=ignore)
    words = ["-m", "greenloop", "mcp", "--root", str(root)]
    words += [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in CALLS}
    async with Client(stdio_client(server)) as client:
        for name, (tool, arguments) in CALLS.items():
            for _ in range(runs + 3):
                began = time.perf_counter()
                result = await client.call_tool(name, arguments)
                between = time.perf_counter()
                await tool(context, **arguments)
                pairs[name].append((between - began, time.perf_counter() - between))
                assert not result.is_error, result.content
    await service.pool.close()
    return {name: rows[3:] for name, rows in pairs.items()}


async def ignore(*_: Any) -> None:
    """Hears progress."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--limit", type=float, default=20.0, help="milliseconds a call (default 20)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="greenloop-mcp-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        os.environ |= {"XDG_STATE_HOME": str(root / "state"), "XDG_CONFIG_HOME": str(root / "config")}
        (root / "project").mkdir()
        (root / "project" / "test_one.py").write_text("def test_one():\n    assert True\n")
        (root / "project" / "pytest.ini").write_text("[pytest]\naddopts = --disable-plugin-autoload\n")
        pairs = asyncio.run(measure(root / "project", arguments.runs))
    worst = 0.0
    print(f"medians of {arguments.runs}, milliseconds\n")
    print("| tool | by protocol | in process | difference |\n|---|---:|---:|---:|")
    for name, rows in pairs.items():
        difference = statistics.median(client - own for client, own in rows) * 1000
        client, own = (statistics.median(column) * 1000 for column in zip(*rows, strict=True))
        print(f"| {name} | {client:.1f} | {own:.1f} | {difference:.1f} |")
        worst = max(worst, difference)
    return int(worst > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())
