"""Measures where the function that a real fix changed stands in the ranking of a failing test's functions.

`measure TASKS --out FILE` runs the baseline of each task (a JSON list with id, folder, python, pythonpath, test, path,
function, changed, kind) and keeps the ranking, the scores of each signal, seconds and runs; tasks that FILE has already
are left out. Another version of the package is measured by the same tasks with PYTHONPATH=OTHER/server.
`report FILE [OTHER]` (ranking_report.py) prints the places.

Run: .venv/bin/python lab/benchmarks/ranking.py measure tasks.json --out ranking.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pickle
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ranking_report

from greenloop.core.errors import GreenloopError
from greenloop.engine import sandbox_spec
from greenloop.localize import baseline, early_end, failing_test, related_tests
from greenloop.localize.context import BaselineContext
from greenloop.project import sandbox_selection
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot
from greenloop.project.typed_targets import parse_target
from greenloop_sandbox import SandboxPool

try:
    from greenloop.localize import target_run
except ImportError:  # a version of the package without signals
    statement_run = None

Row = dict[str, Any]


class CountingSession:
    """A session that keeps what each run was for, and its seconds."""

    def __init__(self, session: Any, *, repeats: bool) -> None:
        self._session, self._repeats, self._first, self.runs = session, repeats, None, []

    async def run(self, run: Any) -> Any:
        if not self._repeats and run.hash_seed == early_end.OTHER_SEED:
            return self._first
        start = time.monotonic()
        try:
            execution = await self._session.run(run)
            self._first = self._first or execution
            return execution
        finally:
            statements = bool(getattr(run, "statements", ()))
            kind = "statements" if statements else "watch" if run.watch else "trace" if run.trace else "plain"
            self.runs.append([kind, round(time.monotonic() - start, 3)])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


class Captured:
    """What the baseline ranked and chose; it is read from the functions that the baseline calls."""

    def __init__(self) -> None:
        self.ranked: Sequence[Any] = ()
        self.chosen: Sequence[Any] = ()
        self.evidence: Any = None
        self._choose = failing_test.regions.choose
        failing_test.regions.choose = self._keep_choice
        if hasattr(failing_test, "ranking"):
            self._rank = failing_test.ranking.rank
            failing_test.ranking.rank = self._keep_evidence

    def clear(self) -> None:
        self.ranked, self.chosen, self.evidence = (), (), None

    def _keep_choice(self, ranked: Sequence[Any], *rest: Any, **named: Any) -> Any:
        self.ranked, self.chosen = ranked, self._choose(ranked, *rest, **named)
        return self.chosen

    def _keep_evidence(self, evidence: Any, *rest: Any) -> Any:
        self.evidence = evidence
        return self._rank(evidence, *rest)


async def measure(task: Mapping[str, Any], captured: Captured, *, slow: float = 1.0) -> tuple[Row, Any]:
    """Returns the ranking for one task (its `error` where there is none), and the evidence.

    Where the machine is `slow` times slower than usual, limits are so much longer, and the target is not repeated.
    """
    captured.clear()
    start, root = time.monotonic(), Path(task["folder"])
    settings = Settings(interpreter=task["python"])
    settings = replace(settings, sandbox=replace(settings.sandbox, seconds=slow * settings.sandbox.seconds))
    pool, runs = SandboxPool(), []
    row: Row = {"id": task["id"], "kind": task["kind"], "lines": task.get("lines")}
    try:
        place = await sandbox_spec.build_sandbox_spec(root, settings)
        folders = [str(root / folder) for folder in str(task.get("pythonpath", ".")).split(":")]
        place = replace(place, variables={**place.variables, "PYTHONPATH": ":".join(folders)})
        _sandbox, session = await sandbox_selection.open_first(place, settings, sandbox_spec.ignore_status, pool)
        counting = CountingSession(session, repeats=slow == 1)
        runs = counting.runs
        start = time.monotonic()
        snapshot = Snapshot(root=root, buffers={})
        context = BaselineContext(
            target=parse_target(task["test"], root, read_text=snapshot.text).target,
            snapshot=snapshot,
            session=counting,  # type: ignore[arg-type]
            place=place,
            settings=settings,
            report_status=sandbox_spec.ignore_status,
        )
        found = await baseline.measure_baseline(context)
        row["error"] = found.fault or ("passes" if found.passing else "")
        await pool.release(session)
    except GreenloopError as error:
        row["error"] = f"{type(error).__name__}: {error}"
    finally:
        await pool.close()
    row |= {"seconds": round(time.monotonic() - start, 2), "runs": runs}
    row["ranked"] = [[region.path, region.qualname] for region in captured.ranked]
    row["chosen"] = [[region.path, region.qualname] for region in captured.chosen]
    row["wanted"] = task.get("changed") or [[task["path"], task["function"]]]
    if captured.evidence is not None:
        row["suspects"] = list_suspects(captured.evidence)
    return row, captured.evidence


def list_suspects(evidence: Any) -> list[Row]:
    """Returns each suspect with what every signal says of it."""
    scores = {name: signal(evidence) for name, signal in failing_test.ranking.SIGNALS.items()}
    return [
        {
            "path": region.path,
            "name": region.qualname,
            "depth": entry.depth,
            "order": entry.order,
            "start": region.start,
            "lines": region.end - region.start + 1,
            "scores": {name: round(found[region], 4) for name, found in scores.items() if found.get(region)},
        }
        for region, entry in evidence.suspects.items()
    ]


def keep(file: Path, evidence: Any) -> None:
    """Keeps the evidence, with the texts that it speaks of."""
    paths = {region.path for region in evidence.suspects}
    paths |= {frame.path for failure in evidence.failing.values() if failure for frame in failure.frames}
    texts = {path: evidence.text_of(path) for path in paths}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(replace(evidence, text_of=texts.get)))


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("tasks", type=Path)
    measuring.add_argument("--out", type=Path, required=True)
    measuring.add_argument("--only", default="")
    measuring.add_argument("--slow", type=float, default=1.0, help="how much slower this machine is now than usual")
    measuring.add_argument("--own-file", action="store_true", help="no related tests but those of the target's file")
    measuring.add_argument("--keep", type=Path, help="folder for the evidence of each task, by `pickle`")
    reporting = commands.add_parser("report")
    reporting.add_argument("files", type=Path, nargs="+")
    reporting.add_argument("--kinds", default="one function,several")
    reporting.add_argument("--fauxpy", type=Path, nargs="*", default=[], help="what ranking_fauxpy.py has measured")
    options = parser.parse_args()
    if options.command == "report":
        ranking_report.report(options.files, options.kinds.split(","), options.fauxpy)
        return 0
    done = set()
    if options.out.exists():
        done = {json.loads(line)["id"] for line in options.out.read_text().splitlines()}
    captured = Captured()
    if options.own_file:
        related_tests.importing_tests = lambda *_place, **_buffers: ()
    if target_run is not None:
        target_run.TRACE_SECONDS *= options.slow
    for task in json.loads(options.tasks.read_text()):
        if task["id"] in done or not task.get("function") or options.only not in task["id"]:
            continue
        row, evidence = await measure(task, captured, slow=options.slow)
        if options.keep and evidence is not None:
            keep(options.keep / f"{task['id']}.pickle", evidence)
        with options.out.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        place = ranking_report.place_of(row["wanted"], row["ranked"])
        print(
            f"{row['id']:32} place {place:5} of {len(row['ranked']):4}  {row['seconds']:6.1f} s  {row['error']}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
