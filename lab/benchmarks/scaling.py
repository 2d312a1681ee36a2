"""How much faster tasks are done on several nodes: `python lab/benchmarks/scaling.py [--nodes 1 2] [--tasks 12]`.

Tests keep a processor busy, and a scripted model answers at once. Each round runs all numbers of nodes one after the
other, so that what else the machine does falls on all alike; the results are compared with a run without a cluster.
Needs greenloop's extra `ray` and bubblewrap.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from collections import Counter
from pathlib import Path

from ray_nodes import Timer, experiment, load, make_tasks, nodes, verdicts

from greenloop_lab.bench.on_ray import RayCluster
from greenloop_lab.bench.run import run


def quiet(_text: str) -> None:
    pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--times", type=int, default=4_000_000, help="how often a test's loop runs")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--local", action="store_true", help="also measure a run without a cluster")
    arguments = parser.parse_args()
    tasks = make_tasks(arguments.tasks, arguments.times)
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Timer() as timer:
            asyncio.run(run(experiment(tasks, folder, "local"), quiet))
        expected = verdicts(folder / "local.jsonl")
        size = sum((folder / f"local{end}").stat().st_size for end in (".jsonl", ".answers.jsonl"))
        print(
            f"without a cluster: {timer.seconds:.1f} s; {size / len(tasks):.0f} bytes of results a task-run; {load()}"
        )
        for round_ in range(arguments.rounds):
            for count in arguments.nodes:
                with nodes(count) as made:
                    cluster = RayCluster(address=made.address, report_status=quiet)
                    # One task for each node first: processes start and greenloop is imported once.
                    warm = experiment(tasks[:count], folder, f"warm-{round_}-{count}", cluster)
                    cold = Timer()
                    with cold:
                        asyncio.run(run_open(warm))
                    each = experiment(tasks, folder, f"{round_}-{count}", cluster)
                    lines: list[str] = []
                    with Timer() as timer:
                        asyncio.run(run(each, lines.append))
                shares = Counter(line.rpartition(" (")[2] for line in lines)
                same = verdicts(each.out) == expected
                seconds.setdefault(str(count), []).append(timer.seconds)
                print(
                    f"round {round_ + 1}, {count} nodes: {timer.seconds:.1f} s, first tasks {cold.seconds:.1f} s, "
                    f"tasks on each node {sorted(shares.values())}, "
                    f"{'the same results' if same else 'OTHER RESULTS'}; {load()}",
                    flush=True,
                )
    first = statistics.median(seconds[str(arguments.nodes[0])])
    ratios = {count: round(first / statistics.median(taken), 2) for count, taken in seconds.items()}
    print(json.dumps({"tasks": len(tasks), "seconds": seconds, "speed-up": ratios}))


async def run_open(warm) -> None:
    """Runs without leaving the cluster at the end."""
    close, warm.cluster.close = warm.cluster.close, lambda: None
    try:
        await run(warm, quiet)
    finally:
        warm.cluster.close = close


if __name__ == "__main__":
    main()
