"""How much faster one suite runs on several nodes, and what a killed node costs.

`python lab/benchmarks/split_suite.py [--nodes 1 2] [--rounds 3]` runs a suite that keeps a processor busy on a cluster
of each size, in turns, once its times are known, and beside that without a cluster.
`--kills N` instead runs it on two nodes while N nodes are killed at random moments, each followed by another one: a
case that is missing or that has another outcome is told. Needs greenloop's extra `ray` and bubblewrap.
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
import threading
from pathlib import Path

os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="split-suite-")  # no times of an earlier run

from ray_nodes import Timer, load, nodes

from greenloop.project.environment import interpreters
from greenloop.project.settings import SandboxSettings, Settings
from greenloop_lab.sandboxes.backends import ray
from greenloop_lab.sandboxes.cluster import connection
from greenloop_sandbox import Limits, Sandbox, SandboxSpec, TestRun, case_results
from greenloop_sandbox.backends import bubblewrap

TESTS = """import pytest


@pytest.mark.parametrize("n", range({count}))
def test_loop(n):
    total = n
    for number in range({times}):
        total = (total * 31 + number) % 1000003
    assert 0 <= total < 1000003 and n != 7
"""
SECONDS = 600.0
RUN = TestRun(selectors=(), seconds=SECONDS)


def make_suite(root: Path, files: int, count: int, times: int) -> SandboxSpec:
    for number in range(files):
        # The first file takes as long as all others, so that it has to be cut.
        factor = files - 1 if number == 0 else 1
        (root / f"test_{number}.py").write_text(TESTS.format(count=count, times=factor * times))
    environment = interpreters.find_environment(root, Settings(interpreter=sys.executable))
    return SandboxSpec(root=root, environment=environment, limits=Limits(seconds=SECONDS))


def on(address: str) -> Sandbox:
    return ray.create(SandboxSettings(kind="ray", cluster=address))


async def measure(sandbox: Sandbox, spec: SandboxSpec, times: int = 1) -> tuple[list[float], list[tuple[str, str]]]:
    """The seconds of each run in one session, whose first run is not counted, and the outcomes of the last."""
    session = await sandbox.open(spec)
    try:
        taken = []
        for _ in range(times + 1):
            with Timer() as timer:
                execution = await session.run(RUN)
            taken.append(timer.seconds)
            assert not execution.broken, execution.broken
    finally:
        await session.close()
    return taken[1:], [(result.id, result.outcome) for result in case_results(execution)]


def scale(arguments: argparse.Namespace, spec: SandboxSpec) -> None:
    (alone, expected), seconds = asyncio.run(measure(bubblewrap.create(SandboxSettings()), spec)), {}
    print(f"{len(expected)} cases without a cluster: {alone[0]:.1f} s; {load()}")
    for round_ in range(arguments.rounds):
        for count in arguments.nodes:
            with nodes(count) as made:
                (taken, found) = asyncio.run(measure(on(made.address), spec))
                connection.connect("").shutdown()
            seconds.setdefault(count, []).append(taken[0])
            same = "the same outcomes" if found == expected else "OTHER OUTCOMES"
            print(f"round {round_ + 1}, {count} nodes: {taken[0]:.1f} s, {same}; {load()}", flush=True)
    first = statistics.median(seconds[arguments.nodes[0]])
    ratios = {count: round(first / statistics.median(taken), 2) for count, taken in seconds.items()}
    print(json.dumps({"seconds": seconds, "speed-up": ratios}))


def kill(arguments: argparse.Namespace, spec: SandboxSpec) -> None:
    _, expected = asyncio.run(measure(bubblewrap.create(SandboxSettings()), spec, times=0))
    random_, killed, rounds, differing, lost = random.Random(arguments.seed), 0, 0, 0, 0
    stop = threading.Event()
    with nodes(2) as made:

        def kill_nodes() -> None:
            nonlocal killed
            while killed < arguments.kills and not stop.wait(random_.uniform(0.5, 6.0)):
                made.kill(random_)
                made.add()
                killed += 1

        def report(text: str) -> None:
            nonlocal lost
            lost += text.startswith("A node was lost")

        killer = threading.Thread(target=kill_nodes)
        killer.start()
        try:
            while killed < arguments.kills:
                sandbox = on(made.address)
                sandbox.report_status = report
                _, found = asyncio.run(measure(sandbox, spec, times=0))
                rounds += 1
                differing += found != expected
                print(
                    f"{rounds} runs, {killed} kills, {lost} parts lost, {differing} runs differ; {load()}", flush=True
                )
        finally:
            stop.set()
            killer.join()
    print(json.dumps({"runs": rounds, "kills": killed, "parts lost": lost, "runs that differ": differing}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--files", type=int, default=6)
    parser.add_argument("--cases", type=int, default=8, help="cases of each file")
    parser.add_argument("--times", type=int, default=2_000_000, help="how often a test's loop runs")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        spec = make_suite(Path(name), arguments.files, arguments.cases, arguments.times)
        (kill if arguments.kills else scale)(arguments, spec)


if __name__ == "__main__":
    main()
