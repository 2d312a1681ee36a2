#!/usr/bin/env python3
"""Measures what a newcomer and an agent meet first, without a model: a row of a table for each figure.

    lab/benchmarks/first_contact.py [--runs 20] [--skip-install]

Install: the README's lines in an empty home, typed as they are (keys), until the fix is written; packages come from the
index that pip uses anyway. Start-up: `greenloop --version`. Gate: `greenloop verify --gate` where nothing differs, and
where prose alone does. With first_fix.py the way of the embedded model is measured.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = re.findall(r"^```sh\n(python3 -m venv .*?)^```", README, re.DOTALL | re.MULTILINE)[0].strip().splitlines()
WORDS_A_MINUTE = 220  # of a silent reader


def run(command: list[str], folder: Path, home: Path) -> float:
    """Seconds of a command. Raises `CalledProcessError` where it fails."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GREENLOOP_SANDBOX_KIND": "bubblewrap"}
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return time.perf_counter() - began


def install(work: Path) -> list[tuple[str, str]]:
    """The README's lines, with its folder for the environment in a folder of this run."""
    home = work / "home"
    home.mkdir()
    lines = [line.replace("/tmp/", f"{work}/") for line in LINES]
    seconds = run(["bash", "-ec", "\n".join(lines)], ROOT, home)
    environment = work / "greenloop"
    size = int(subprocess.run(["du", "-sm", environment], check=True, capture_output=True, text=True).stdout.split()[0])
    packages = len([*environment.glob("lib/*/site-packages/*.dist-info")])
    keys = sum(len(line) + 1 for line in LINES)
    return [
        (
            "an empty home to the first written fix, without a model",
            f"{seconds:.0f} s, {keys} keys, {len(LINES)} lines",
        ),
        ("its environment", f"{size} MB, {packages} packages"),
    ]


def gate(work: Path, runs: int) -> list[tuple[str, str]]:
    """Percentiles of the gate where no test can notice what differs."""
    root, home = work / "project", work / "gate-home"
    shutil.copytree(ROOT / "examples/age_limit", root)
    home.mkdir()
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        run(["git", *words], root, home)
    rows = []
    for name, text in (("nothing differs", None), ("prose differs", "More prose.\n")):
        if text:
            (root / "README.md").write_text(text)
        command = [sys.executable, "-m", "greenloop", "verify", "--gate"]
        before = os.times()
        seconds = sorted(run(command, root, home) for _ in range(runs))
        after = os.times()
        # What another job takes of the machine is not in the time of the processor.
        used = after.children_user + after.children_system - before.children_user - before.children_system
        p95 = seconds[min(len(seconds) - 1, round(0.95 * len(seconds)))]
        value = f"p50 {statistics.median(seconds):.2f} s, p95 {p95:.2f} s, {used / runs:.2f} s of the processor"
        rows.append((f"the gate where {name}", f"{value}, {runs} runs"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--skip-install", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="greenloop-first-") as temporary:
        work = Path(temporary)
        work.chmod(0o755)
        rows = [] if arguments.skip_install else install(work)
        starts = [run([sys.executable, "-m", "greenloop", "--version"], work, work) for _ in range(arguments.runs)]
        rows.append(("`greenloop --version`", f"p50 {statistics.median(starts):.2f} s, {arguments.runs} runs"))
        rows += gate(work, arguments.runs)
    words = len(re.sub(r"```.*?```|<!--.*?-->", "", README, flags=re.DOTALL).split())
    rows.append(("the README without its code", f"{words} words, {words / WORDS_A_MINUTE:.1f} minutes"))
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
