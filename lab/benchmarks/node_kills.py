"""Kills nodes at random moments while tasks run: `python lab/benchmarks/node_kills.py [--kills 100] [--nodes 2]`.

Every kill ends all processes of a node at once, and another node joins. After each round of tasks the file of results
is compared with that of a run without a cluster: a row that is missing, that is there twice or that differs is told.
Needs greenloop's extra `ray` and bubblewrap.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import threading
import time
from pathlib import Path

from ray_nodes import Nodes, experiment, load, make_tasks, nodes, verdicts

from greenloop_lab.bench.on_ray import RayCluster
from greenloop_lab.bench.run import run


def kill_nodes(
    made: Nodes, random_: random.Random, kills: list[int], wanted: int, longest: float, stop: threading.Event
) -> None:
    """Kills one node after the other until enough are killed, or the round is over."""
    while len(kills) < wanted and not stop.wait(random_.uniform(0.5, longest)):
        made.kill(random_)
        kills.append(1)
        made.add()


async def run_round(each, made: Nodes, random_: random.Random, kills: list[int], wanted: int, longest: float) -> int:
    """Runs all tasks while nodes are killed; returns how often a task lost its node."""
    lost = 0

    def report(text: str) -> None:
        nonlocal lost
        lost += "its node was lost" in text

    each.cluster.report_status = report
    stop = threading.Event()
    killer = threading.Thread(target=kill_nodes, args=(made, random_, kills, wanted, longest, stop))
    killer.start()
    try:
        await run(each, report)
    finally:
        stop.set()
        await asyncio.to_thread(killer.join)
    return lost


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--times", type=int, default=1_000_000)
    parser.add_argument("--longest", type=float, default=6.0, help="most seconds between two kills")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random_, kills, round_ = random.Random(arguments.seed), [], 0
    tasks = make_tasks(arguments.tasks, arguments.times)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(run(experiment(tasks, folder, "local"), lambda _text: None))
        expected = verdicts(folder / "local.jsonl")
        lost_rows = differing = lost_nodes = 0

        end = time.monotonic() + 60 * arguments.minutes
        with nodes(arguments.nodes) as made:
            while len(kills) < arguments.kills and time.monotonic() < end:
                round_ += 1
                cluster = RayCluster(address=made.address, report_status=print)
                each = experiment(tasks, folder, str(round_), cluster)
                lost_nodes += asyncio.run(run_round(each, made, random_, kills, arguments.kills, arguments.longest))
                found = verdicts(each.out)
                lost_rows += len(expected.keys() - found.keys())
                differing += sum(found[key] != expected[key] for key in expected.keys() & found.keys())
                differing += len(found.keys() - expected.keys())
                print(
                    f"{arguments.nodes} nodes, round {round_}: {len(kills)} kills, {lost_nodes} tasks lost their node, "
                    f"{lost_rows} rows lost, {differing} rows differ; {load()}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
