#!/usr/bin/env python3
"""Measures what greenloop costs a pytest session that does not ask for it, and how long `verify --staged` takes.

1. `pytest --collect-only` in an empty folder, in a bare environment with pytest alone and with greenloop's wheel as
   well, in turns: medians of wall and processor time, and the difference (of the medians, and of each pair).
2. With `--staged`: one changed function of a small repository, as the pre-commit hook runs it, with an interpreter that
   has no plugin; the fastest, median and slowest.
Exits 1 where the plugin costs more than `--limit` milliseconds of processor time.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from greenloop_sandbox.payload import borrowed_packages

HOUSE = Path(__file__).resolve().parents[2]


def lay_out(folder: Path, *, wheel: Path | None) -> Path:
    """A folder of packages for `PYTHONPATH`: pytest, and greenloop as a wheel installs it."""
    folder.mkdir()
    for name, path in borrowed_packages().items():
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / name)
    if wheel is not None:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


def measure(python: Path, packages: Path, work: Path) -> tuple[float, float]:
    """Milliseconds of wall time and of processor time of one session."""
    command = [python, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=work, env=environment, capture_output=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000, processor * 1000


def plugin_cost(runs: int, folder: Path) -> float:
    """Prints the figures; returns the milliseconds of processor time that the plugin adds."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(HOUSE)]
    subprocess.run(build, check=True, capture_output=True)
    wheel = next(folder.glob("*.whl"))
    python = folder / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    work = folder / "work"
    work.mkdir()
    places = {
        "pytest alone": lay_out(folder / "alone", wheel=None),
        "with greenloop": lay_out(folder / "both", wheel=wheel),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in places}
    for number in range(runs + 2):
        for name, packages in places.items():
            figures = measure(python, packages, work)
            if number >= 2:  # the first ones write bytecode
                found[name].append(figures)
    for name, rows in found.items():
        wall, processor = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{name}: {wall:.1f} ms, {processor:.1f} ms of processor time (median of {runs})")
    pairs = zip(*found.values(), strict=True)
    differences = [(both[0] - alone[0], both[1] - alone[1]) for alone, both in pairs]
    wall, processor = (statistics.median(column) for column in zip(*differences, strict=True))
    print(f"difference: {wall:.1f} ms, {processor:.1f} ms of processor time (median of the pairs)")
    return processor


def staged_seconds(runs: int, folder: Path) -> None:
    """Prints how long the hook takes for one changed function."""
    root = folder / "repository"
    (root / "tests").mkdir(parents=True)
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (root / "m.py").write_text("def double(x):\n    return x + x\n")
    tests = "".join(f"\n\ndef test_{number}():\n    assert double({number}) == {2 * number}\n" for number in range(20))
    (root / "tests/test_m.py").write_text(f"from m import double\n{tests}")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    (root / "m.py").write_text("def double(x):\n    return 2 * x\n")
    subprocess.run([*git, "add", "-A"], cwd=root, check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    environment = {**os.environ, "GREENLOOP_INTERPRETER": str(folder / "venv/bin/python")}
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        command = [sys.executable, "-m", "greenloop", "verify", "--staged"]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        times.append(time.perf_counter() - began)
        assert done.returncode == 0, done.stdout + done.stderr
    fastest, median, slowest = min(times), statistics.median(times), max(times)
    print(
        f"verify --staged, 20 tests: fastest {fastest:.2f} s, median {median:.2f} s, slowest {slowest:.2f} s of {runs}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--limit", type=float, default=5.0, help="milliseconds")
    parser.add_argument("--staged", action="store_true", help="measure `verify --staged` instead")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="greenloop-bench-") as name:
        if arguments.staged:
            staged_seconds(arguments.runs, Path(name))
            return 0
        return int(plugin_cost(arguments.runs, Path(name)) > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())
