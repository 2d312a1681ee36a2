"""A Ray cluster of several nodes on this machine, and tasks whose tests keep a processor busy."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from greenloop_lab.bench import mbpp, plans
from greenloop_lab.bench.on_ray import RayCluster
from greenloop_lab.bench.run import Experiment

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
    """A head without processors and workers with one each, every one a tree of processes as `ray start` makes it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.workers = folder, []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        others = ["--include-dashboard=false", f"--temp-dir={folder / 'ray'}", "--disable-usage-stats"]
        self.head = self._start("--head", f"--port={self.port}", "--num-cpus=0", *others)
        self.address = f"127.0.0.1:{self.port}"

    def _start(self, *words: str) -> psutil.Process:
        program = Path(sys.executable).with_name("ray")
        command = [program, "start", "--block", f"--object-store-memory={STORE}", *words]
        with (self.folder / "nodes.log").open("a+b") as log:
            began = log.seek(0, os.SEEK_END)
            process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while b"--block" not in (text := (self.folder / "nodes.log").read_bytes()[began:]):
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                raise SystemExit(f"no node: {text.decode()[-2000:]}")
            time.sleep(0.1)
        return psutil.Process(process.pid)

    def add(self) -> None:
        self.workers.append(self._start(f"--address={self.address}", "--num-cpus=1"))

    def kill(self, random_: random.Random) -> None:
        """Kills every process of a worker at once, as a power cut does."""
        _kill_tree(self.workers.pop(random_.randrange(len(self.workers))))

    def close(self) -> None:
        for node in (*self.workers, self.head):
            _kill_tree(node)


def _kill_tree(process: psutil.Process) -> None:
    try:
        tree = [*process.children(recursive=True), process]
    except psutil.NoSuchProcess:
        return
    for each in tree:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(tree, timeout=10)


@contextmanager
def nodes(count: int):
    with tempfile.TemporaryDirectory(prefix="nodes-") as name:
        made = Nodes(Path(name))
        try:
            for _ in range(count):
                made.add()
            yield made
        finally:
            made.close()


class Timer:
    def __enter__(self):
        self.began = time.monotonic()
        return self

    def __exit__(self, *_error):
        self.seconds = time.monotonic() - self.began
