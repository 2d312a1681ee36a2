#!/usr/bin/env python3
"""Seconds until the first attempt, against pytest on the host over the file of the test.

Run: python lab/benchmarks/first_attempt.py TASKS [--python PYTHON] [--most N]

TASKS is a file of `greenloop bench --write-tasks` or of history.py. For each task: `host`, pytest outside
any sandbox over the test's file; `cold`, from the request until the first attempt begins, in a new sandbox; `warm`,
once more in the sandboxes of that run, as in an editor after a change; `again`, for the same target of unchanged files,
whose results are known; and the longest time without a status. Before `warm` and `again` the sandboxes are warmed, as
by an editor that asks for the actions: the run before was cancelled, which takes its sandbox down. The first attempt
may be a one-token change that is tried while the related tests run. The host's run is repeated after the others, and
the mean counts, as other programs may use the machine.
The medians of `cold` and `again` should be at most 1.5 and 0.5 times the host's.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from greenloop.core.errors import GreenloopError
from greenloop.core.events import Event, Started
from greenloop.engine import refine
from greenloop.engine.baseline.early_changes import EARLY
from greenloop.project import configuration
from greenloop.project.environment import interpreters
from greenloop.project.settings import Settings
from greenloop_lab.bench import tasks
from greenloop_lab.bench.history import tree as history_tree
from greenloop_lab.bench.oracle import Oracle
from greenloop_lab.bench.task_folder import Place, lay_out_task
from greenloop_lab.bench.tasks import Task
from greenloop_sandbox import SandboxPool

COLD, AGAIN = 1.5, 0.5


@dataclass
class Watch:
    """When something was said, and when the first attempt began."""

    told: list[float] = field(default_factory=lambda: [monotonic()])
    first: asyncio.Event = field(default_factory=asyncio.Event)
    waits: bool = False  # for the end of the baseline

    def report_status(self, sentence: str) -> None:
        self.told.append(monotonic())
        if sentence == EARLY and not self.waits:
            self.first.set()

    def emit(self, event: Event) -> None:
        self.told.append(monotonic())
        if isinstance(event, Started):
            self.first.set()


async def time_first_attempt(
    task: Task, place: Place, settings: Settings, pool: SandboxPool, *, measured: bool = False
) -> tuple[float, float]:
    """The seconds until the first attempt, and the longest time without a status.

    `measured`: until the baseline is measured as a whole.
    """
    models = refine.Models(settings=settings, override=Oracle(task))  # which takes its time for a long file
    watch, began = Watch(waits=measured), monotonic()
    harness = refine.Harness(
        preset=refine.find_preset(settings.preset),
        models=models,
        history=Path(tempfile.gettempdir()) / "first-attempt.sqlite3",
        variables=place.variables,
        remembers=True,
    )
    buffers = {path: text.encode() for path, text in task.files.items()} if task.folder else {}
    request = refine.RefineRequest(root=place.root, target=task.target, buffers=buffers)
    run = asyncio.create_task(
        refine.refine(
            request,
            settings=settings,
            emit=watch.emit,
            report_status=watch.report_status,
            pool=pool,
            harness=harness,
        )
    )
    first = asyncio.create_task(watch.first.wait())
    await asyncio.wait({run, first}, return_when=asyncio.FIRST_COMPLETED)
    seconds = monotonic() - began
    first.cancel()
    if run.done():
        raise GreenloopError(run.result().message)
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    until = [moment for moment in watch.told if moment - began <= seconds]
    return seconds, max(later - earlier for earlier, later in zip(until, [*until[1:], began + seconds], strict=True))


def time_on_host(task: Task, place: Place, settings: Settings) -> float:
    python = interpreters.find_environment(place.root, settings).executable
    began = monotonic()
    subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", task.target.partition("::")[0]],
        cwd=place.root,
        env={**os.environ, **place.variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=600,
        check=False,
    )
    return monotonic() - began


async def measure(task: Task, settings: Settings) -> tuple[float, float, float, float, float]:
    """Seconds on the host, cold, warm, again, and the longest silence."""
    with tempfile.TemporaryDirectory() as folder:
        place = lay_out_task(task, Path(folder), settings)
        hosts = [await asyncio.to_thread(time_on_host, task, place, settings)]
        pool = SandboxPool()
        try:
            cold, quiet = await time_first_attempt(task, place, settings, pool)
            await refine.warm(place.root, settings, pool, place.variables)
            warm, quiet_warm = await time_first_attempt(task, place, settings, pool)
            await time_first_attempt(task, place, settings, pool, measured=True)
            await refine.warm(place.root, settings, pool, place.variables)
            again, quiet_again = await time_first_attempt(task, place, settings, pool)
        finally:
            await pool.close()
        hosts.append(await asyncio.to_thread(time_on_host, task, place, settings))
        return statistics.mean(hosts), cold, warm, again, max(quiet, quiet_warm, quiet_again)


def settings_for(task: Task, python: str) -> Settings:
    folder = Path(task.folder) if task.folder else None
    told = {"interpreter": python} if python else {}
    settings, _warnings = configuration.load(folder, command_line={"sandbox.kind": "bubblewrap", **told})
    if not task.commit or folder is None:
        return settings
    return history_tree.settings_of(settings, history_tree.find_interpreter(folder, settings))


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path, nargs="+")
    parser.add_argument("--python", default="", help="the interpreter of their tests; {project} is its name in the id")
    parser.add_argument("--most", type=int, default=1000, help="tasks of each file")
    arguments = parser.parse_args()
    rows = []
    titles = " ".join(f"{title:>7} {'ratio':>6}" for title in ("cold", "warm", "again"))
    print(f"{'task':44} {'host':>7} {titles} {'silent':>6}")
    for path in arguments.tasks:
        for task in tasks.read(path)[: arguments.most]:
            project = task.id.removeprefix("history-").rpartition("-")[0]
            settings = settings_for(task, arguments.python.format(project=project))
            try:
                row = await measure(task, settings)
            except GreenloopError as error:
                print(f"{task.id:44} {error}")
                continue
            rows.append(row)
            ratios = " ".join(f"{seconds:7.2f} {seconds / row[0]:6.2f}" for seconds in row[1:4])
            print(f"{task.id:44} {row[0]:7.2f} {ratios} {row[4]:6.2f}", flush=True)
    if rows:
        cold, warm, again = (statistics.median(row[index] / row[0] for row in rows) for index in (1, 2, 3))
        print(f"{len(rows)} tasks; median times of the host's:")
        print(f"cold {cold:.2f} (limit {COLD}), warm {warm:.2f}, again {again:.2f} (limit {AGAIN})")
        print(f"longest time without a status: {max(row[4] for row in rows):.2f} s")


if __name__ == "__main__":
    asyncio.run(main())
