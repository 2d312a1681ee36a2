"""A Ray cluster of several nodes on this machine, and tasks whose tests keep a processor busy."""

from __future__ import annotations

import json
import os
import random
import time
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

from ray.cluster_utils import Cluster

from greenloop.bench import mbpp, plans
from greenloop.bench.on_ray import RayCluster
from greenloop.bench.run import Experiment

STORE = 100_000_000  # bytes of each node's object store
CODE = """def f{n}(times):
    total = {n}
    for number in range(times):
        total = (total * 31 + number) % 1000003
    return total
"""


def make_tasks(count: int, times: int) -> list:
    """Functions to be written, whose tests run a loop so many times; the reference model knows them."""
    tasks = []
    for n in range(1, count + 1):
        names: dict = {}
        exec(CODE.format(n=n), names)  # our own text above
        values = [(times - k, names[f"f{n}"](times - k)) for k in range(3)]
        row = {
            "task_id": n,
            "text": f"Write a function that repeats total = (total * 31 + number) % 1000003, beginning with {n}.",
            "code": CODE.format(n=n),
            "test_setup_code": "",
            "test_list": [f"assert f{n}({argument}) == {value}" for argument, value in values],
        }
        tasks.append(mbpp.make_task(mbpp.parse(row)))
    return tasks


def experiment(tasks: list, folder: Path, name: str, cluster: RayCluster | None = None) -> Experiment:
    return Experiment(
        tasks=tasks,
        arms=plans.check_arms([plans.parse_arm("plain")]),
        out=folder / f"{name}.jsonl",
        answers=folder / f"{name}.answers.jsonl",
        settings={"model": "reference", "sandbox.kind": "bubblewrap"},
        history=folder / f"{name}.history.sqlite3",
        cluster=cluster,
    )


def verdicts(path: Path) -> dict:
    """Ids and verdicts of a file of results: everything but times and the machine."""
    rows: dict = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        key = (row["kind"], row["arm"], row["task"], row["repeat"], row.get("number"))
        names = ("right", "shown_passed", "judge_passed", "judge_total", "verified", "reason", "attempts", "status")
        rows.setdefault(key, []).append({name: row[name] for name in names if name in row})
    return rows


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} processors"


class Nodes:
    """A head without processors, and workers with one each."""

    def __init__(self) -> None:
        head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args=head, shutdown_at_exit=False)
        self.workers: list = []

    def add(self) -> None:
        self.workers.append(self.cluster.add_node(num_cpus=1, object_store_memory=STORE))

    def kill(self, random_: random.Random) -> None:
        """Kills every process of a worker at once, as a power cut does."""
        node = self.workers.pop(random_.randrange(len(self.workers)))
        node.kill_all_processes(check_alive=False, allow_graceful=False)
        self.cluster.worker_nodes.discard(node)


@contextmanager
def nodes(count: int):
    made = Nodes()
    try:
        for _ in range(count):
            made.add()
        yield made
    finally:
        made.cluster.shutdown()


class Timer:
    def __enter__(self):
        self.began = time.monotonic()
        return self

    def __exit__(self, *_error):
        self.seconds = time.monotonic() - self.began
