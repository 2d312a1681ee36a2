#!/usr/bin/env python3
"""Measures how fast the language server answers, idle and while refinements keep four sandboxes busy, and its memory.

1. Code action, hover and code lens on test files of 1,000 and 5,000 lines, with and without a keystroke before each:
   median and 95th percentile, idle and busy, in one run. Busy: four refinements with a scripted model in bubblewrap
   whose tests burn a second of processor each; `--local`: one refinement with the embedded model at work.
2. `--memory`: resident memory after the first refinement, after 100 more, and after 100,000 keystrokes.
Exits 1 where a busy p95 is above both 10 ms and three times the idle one, or memory grows by more than 10 MiB.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from client import Client, start_server
from targets import make_test_file

SIZES = (1000, 5000)
PAUSE = 0.01
LIMIT, RATIO, GROWTH = 10.0, 3.0, 10.0  # milliseconds, times idle, MiB
RUNS, ATTEMPTS = 4, 200
BURN = "    end = time.process_time() + {seconds}\n    while time.process_time() < end:\n        pass\n"
MODULE = "def double(x):\n    return x\n"
HEAD = "import time\n\nfrom m{n} import double\n\n\ndef test_double():\n"
NAMES = [
    *(f"{head}{n}.py" for head in ("m", "test_m") for n in range(RUNS)),
    *(f"test_big{size}.py" for size in SIZES),
]


def write_project(root: Path, burn: float) -> None:
    # The plugins of the environment this script runs in are slow to import and no part of the question.
    (root / "pytest.ini").write_text("[pytest]\naddopts = --disable-plugin-autoload\n")
    for n in range(RUNS):
        (root / f"m{n}.py").write_text(MODULE)
        test = HEAD.format(n=n) + BURN.format(seconds=burn) + "    assert double(5) == 10\n"
        (root / f"test_m{n}.py").write_text(test)
    for size in SIZES:
        # Its first line is there to be typed into.
        (root / f"test_big{size}.py").write_text("#  \n" + make_test_file(size))


async def measure_answers(client: Client, samples: int) -> dict[tuple[str, int, str], list[float]]:
    """Milliseconds of each answer, by method, size of the file, and whether a key was pressed just before."""
    dice = random.Random(1)
    milliseconds: dict[tuple[str, int, str], list[float]] = {}
    methods = ["codeAction", "hover", *(["codeLens"] if client.lenses else [])]
    for size in SIZES:
        name = f"test_big{size}.py"
        document = {"uri": client.uri(name)}
        rows = (client.root / name).read_text().split("\n")
        tests = [n for n, row in enumerate(rows) if "def test_" in row]
        for _ in range(samples):
            for key in ("", "after a key"):
                if not key:
                    # What the last keys cost is no part of answers without one.
                    await client.call("textDocument/codeAction", _action_params(client, name, tests[0]))
                for method in methods:
                    here = {"line": dice.choice(tests), "character": 12}
                    params: dict[str, Any] = {"textDocument": document}
                    if method == "codeAction":
                        params = _action_params(client, name, here["line"])
                    elif method == "hover":
                        params["position"] = here
                    if key:
                        client.type_key(name, 0)
                    began = time.perf_counter()
                    await client.call(f"textDocument/{method}", params)
                    milliseconds.setdefault((method, size, key), []).append((time.perf_counter() - began) * 1000)
                    await asyncio.sleep(PAUSE)
    return milliseconds


def _action_params(client: Client, name: str, line: int) -> dict[str, Any]:
    here = {"line": line, "character": 12}
    context = {"diagnostics": []}
    return {"textDocument": {"uri": client.uri(name)}, "range": {"start": here, "end": here}, "context": context}


def is_refining(client: Client, name: str) -> bool:
    shown = client.diagnostics.get(client.uri(name), [])
    return any(item.get("code") == "refining" and "attempt 1" in str(item) for item in shown)


async def measure_latencies(arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory(prefix="greenloop-lsp-") as name:
        root = Path(name) / "project"
        root.mkdir()
        write_project(root, 0.1 if arguments.local else 1.0)
        script = Path(name) / "answers.jsonl"
        wrong = (f"```python\ndef double(x):\n    return x + {10 + n}\n```" for n in range(ATTEMPTS))
        script.write_text("".join(json.dumps(answer) + "\n" for answer in wrong))
        model = "local" if arguments.local else f"scripted:{script}"
        options = {
            "model": model,
            "preset": "plain",
            "attempts": ATTEMPTS,
            "editor.runs": RUNS,
            "sandbox.seconds": 60.0,
        }
        client = await start_server(Path(name), root, NAMES, options)
        try:
            await measure_answers(client, 5)
            idle = await measure_answers(client, arguments.samples)
            busy_runs = 1 if arguments.local else RUNS
            for n in range(busy_runs):
                target = {"uri": client.uri(f"test_m{n}.py"), "test": f"test_m{n}.py::test_double"}
                await client.command("greenloop.refine", target)
            began = time.monotonic()
            if not arguments.local:
                await client.wait_until(lambda: all(is_refining(client, f"test_m{n}.py") for n in range(busy_runs)))
            print(f"{busy_runs} refinements under way after {time.monotonic() - began:.1f} s")
            busy = await measure_answers(client, arguments.samples)
            if not arguments.local and not all(is_refining(client, f"test_m{n}.py") for n in range(busy_runs)):
                raise SystemExit("a refinement ended before it was measured; nothing is known")
            again = await _measure_after_cancel(client, arguments.samples)
        finally:
            client.process.kill()
            await client.process.wait()
    return table(idle, busy, again)


async def _measure_after_cancel(client: Client, samples: int) -> dict[tuple[str, int, str], list[float]]:
    """Idle once more, after everything was cancelled: hovers then have something to say."""
    await client.command("greenloop.cancel")
    await client.wait_until(lambda: not any(is_refining(client, f"test_m{n}.py") for n in range(RUNS)))
    return await measure_answers(client, samples)


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def table(idle: Any, busy: Any, again: Any) -> bool:
    """Prints one row a question; whether all are within the limit."""
    print("| question | lines | | idle p50 | idle p95 | busy p50 | busy p95 | ratio of p95 | idle again p95 |")
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|")
    good = True
    for method, size, key in sorted(idle):
        before, during = idle[method, size, key], busy[method, size, key]
        after = p95(again[method, size, key])
        ratio = p95(during) / p95(before)
        good &= p95(during) <= max(LIMIT, RATIO * p95(before))
        print(
            f"| {method} | {size} | {key} | {statistics.median(before):.2f} | {p95(before):.2f} "
            f"| {statistics.median(during):.2f} | {p95(during):.2f} | {ratio:.2f} | {after:.2f} |"
        )
    return good


async def measure_memory(refinements: int, keys: int) -> bool:
    with tempfile.TemporaryDirectory(prefix="greenloop-lsp-") as name:
        root = Path(name) / "project"
        root.mkdir()
        write_project(root, 0.0)
        script = Path(name) / "answers.jsonl"
        script.write_text(
            "".join(json.dumps(f"```python\ndef double(x):\n    return x + {n}\n```") + "\n" for n in (1, 2))
        )
        options = {"model": f"scripted:{script}", "preset": "plain", "attempts": 2, "editor.runs": 1}
        client = await start_server(Path(name), root, NAMES, options)
        try:
            started = client.memory()

            async def refine(n: int) -> None:
                test = f"test_m{n % RUNS}.py"
                await client.call("greenloop/refine", {"uri": client.uri(test), "test": f"{test}::test_double"})

            for n in range(RUNS):
                await refine(n)
            first = client.memory()
            for n in range(refinements):
                await refine(n)
            refined = client.memory()
            for n in range(keys):
                client.type_key("test_big1000.py", 0)
                if n % 1000 == 999:
                    # The server keeps up: a request is answered after all that came before it.
                    await client.call("textDocument/hover", _hover_params(client))
            typed = client.memory()
        finally:
            client.process.kill()
            await client.process.wait()
    print(f"memory: {started:.1f} MiB at the start, {first:.1f} after {RUNS} refinements, ", end="")
    print(f"{refined:.1f} after {refinements} more, {typed:.1f} after {keys} keystrokes")
    return typed - first <= GROWTH


def _hover_params(client: Client) -> dict[str, Any]:
    return {"textDocument": {"uri": client.uri("test_big1000.py")}, "position": {"line": 1, "character": 0}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=150)
    parser.add_argument("--local", action="store_true", help="busy: one refinement with the embedded model at work")
    parser.add_argument("--memory", action="store_true", help="measure memory instead")
    parser.add_argument("--refinements", type=int, default=100)
    parser.add_argument("--keys", type=int, default=100_000)
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if arguments.memory:
        return int(not asyncio.run(measure_memory(arguments.refinements, arguments.keys)))
    return int(not asyncio.run(measure_latencies(arguments)))


if __name__ == "__main__":
    sys.exit(main())
