"""Measures where FauxPy puts the function that a real fix changed, on the tasks of `ranking.py`.

FauxPy (Rezaalipour and Furia, "FauxPy: A Fault Localization Tool for Python", 2024) is a plugin of pytest. It runs over
a copy of the tree with the cases of the target's file; SITE is the site-packages of an environment that it is installed
in. A run that takes longer than `--seconds` has no scores. Nothing reaches the network.

`ranking.py report RANKING --fauxpy FILE` prints the places.

Run: python3 lab/benchmarks/ranking_fauxpy.py tasks.json SITE --out fauxpy.jsonl --seconds 120
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]
FAMILIES = ("sbfl", "mbfl")


def run(task: Mapping[str, Any], family: str, site: Path, seconds: float) -> Row:
    """Returns the scores that FauxPy gives, by technique, or what went wrong."""
    row: Row = {"id": task["id"], "family": family, "scores": {}, "error": ""}
    row["wanted"] = task.get("changed") or [[task["path"], task["function"]]]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        tree = Path(temporary, "tree")
        shutil.copytree(task["folder"], tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        # Relative, so that the copies that FauxPy makes import their own code; its plugin comes after the project's.
        places = [*str(task.get("pythonpath") or ".").split(":"), str(site)]
        places = [*places[:-1], str(packages(task["python"])), places[-1]]
        file = task["test"].partition("::")[0]
        failing = [case for case in task.get("fails") or [task["test"]] if case.startswith(f"{file}::")]
        Path(temporary, "failing.txt").write_text("\n".join(case.partition("[")[0] for case in failing))
        source = "src" if "src" in places else task["path"].partition("/")[0]
        command = [
            *(
                "bwrap",
                "--dev-bind",
                "/",
                "/",
                "--unshare-net",
                "--unshare-pid",
                "--proc",
                "/proc",
                "--die-with-parent",
            ),
            *(task["python"], "-m", "pytest", file, "--src", source, "--family", family),
            *("--granularity", "function", "--failing-file", str(Path(temporary, "failing.txt"))),
            *("-p", "no:cacheprovider", "-W", "ignore"),
        ]
        environment = {**os.environ, "PYTHONPATH": ":".join(places), "PYTHONHASHSEED": "0"}
        start = time.monotonic()
        with Path(temporary, "output.txt").open("w+") as output:
            process = subprocess.Popen(
                command, cwd=tree, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            try:
                process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                row["error"] = "time"
        row["seconds"] = round(time.monotonic() - start, 2)
        for table in Path(temporary).glob("FauxPyReport*/Scores_*.csv"):
            row["scores"][table.stem.partition("_")[2]] = read_scores(table, tree)
        if not row["scores"] and not row["error"]:
            row["error"] = Path(temporary, "output.txt").read_text(errors="replace").strip()[-300:]
    return row


def packages(python: str) -> Path:
    """Returns the site-packages of an interpreter's environment."""
    return next((Path(python).parent.parent / "lib").glob("python*/site-packages"))


def read_scores(table: Path, tree: Path) -> list[list[Any]]:
    """Returns path, function, first line and score of each row."""
    found = []
    for row in list(csv.reader(table.open()))[1:]:
        path, name, start, _end = row[0].split("::")
        found.append([os.path.relpath(path, tree), name, int(start), float(row[1])])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("site", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--families", default=",".join(FAMILIES))
    options = parser.parse_args()
    for task in json.loads(options.tasks.read_text()):
        for family in options.families.split(","):
            if not task.get("function") or options.only not in task["id"]:
                continue
            row = run(task, family, options.site.resolve(), options.seconds)
            print(row["id"], family, row["seconds"], row["error"] or len(row["scores"]), flush=True)
            with options.out.open("a") as stream:
                stream.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
