#!/usr/bin/env python3
"""Measures a fix whose related tests are slow: when there is a first label, and when all of them have run.

    lab/benchmarks/slow_suite.py                      54 related tests that sleep for 3 s
    lab/benchmarks/slow_suite.py --runs 2             the second run knows what the first one has learnt
    lab/benchmarks/slow_suite.py --addopts "-n 2"     the project distributes its tests itself (pytest-xdist)

The right answer is scripted. Each line that the run prints is shown with its second. The ideal is the sum of the tests
divided by the processors. Exits 1 where the label comes after 20 s, or the end after 1.2 times the ideal.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

FIRST, FACTOR = 20.0, 1.2
MODULE = "def total(prices):\n    return sum(prices)\n\n\ndef label(prices):\n    return f'{len(prices)} prices'\n"
ANSWER = (
    "```python\ndef total(prices):\n    result = 0\n    for price in prices:\n"
    "        result += price if price > 0 else -price\n    return result\n```"
)
TARGET = "from shop import total\n\n\ndef test_total():\n    assert total([3, -4]) == 7\n"
RELATED = "import time\n\nfrom shop import label, total\n\n"
CASE = "\ndef test_{number}():\n    time.sleep({seconds})\n    assert total([]) == 0\n"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Seconds of one run until its first label and its end, and how far it was verified then."""

    label: float
    end: float
    verified: str
    message: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=54)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each test")
    parser.add_argument("--files", type=int, default=1, help="that the tests are in")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--addopts", default="")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="any setting of greenloop")
    arguments = parser.parse_args()
    ideal = arguments.tests * arguments.seconds / len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="slow-suite-") as folder:
        root, answers = Path(folder, "project"), Path(folder, "answers.jsonl")
        make_project(root, arguments)
        answers.write_text(4 * (json.dumps(ANSWER) + "\n"), encoding="utf-8")
        environment = {**os.environ, "HOME": folder, "XDG_STATE_HOME": f"{folder}/state"}
        runs = []
        for _number in range(arguments.runs):
            (root / "shop.py").write_text(MODULE, encoding="utf-8")
            runs.append(measure(root, answers, environment, arguments.set))
            run = runs[-1]
            print(f"first label {run.label:.1f} s, end {run.end:.1f} s ({run.end / ideal:.2f} x {ideal:g} s)")
            print(f"{run.verified}: {run.message}\n")
    return 0 if all(run.label <= FIRST and run.end <= FACTOR * ideal for run in runs) else 1


def make_project(root: Path, arguments: argparse.Namespace) -> None:
    root.mkdir()
    (root / "pyproject.toml").write_text(
        f'[tool.pytest.ini_options]\naddopts = "{arguments.addopts}"\n', encoding="utf-8"
    )
    (root / "test_total.py").write_text(TARGET, encoding="utf-8")
    for file in range(arguments.files):
        numbers = range(file, arguments.tests, arguments.files)
        cases = "".join(CASE.format(number=number, seconds=arguments.seconds) for number in numbers)
        (root / f"test_slow_{file}.py").write_text(RELATED + cases, encoding="utf-8")


def measure(root: Path, answers: Path, environment: dict[str, str], settings: list[str]) -> Measured:
    """Runs one fix, and shows each of its lines with the second."""
    command = [sys.executable, "-m", "greenloop", "fix", "test_total.py::test_total", "--apply", "--json"]
    command += ["--model", f"scripted:{answers}", *(word for each in settings for word in ("--set", each))]
    began, label, last = time.monotonic(), 0.0, {}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=root, env=environment, text=True, **pipes) as process:
        assert process.stdout is not None
        for line in process.stdout:
            seconds = time.monotonic() - began
            if not line.startswith("{"):
                print(f"{seconds:7.1f}  {line.rstrip()}", flush=True)
                continue
            last = json.loads(line)
            print(f"{seconds:7.1f}  {last['event']}: {last.get('message', '')}", flush=True)
            if last["event"] in {"offered", "finished"} and not label:
                label = seconds
    return Measured(
        label=label,
        end=time.monotonic() - began,
        verified=str(last.get("verified")),
        message=str(last.get("message")),
    )


if __name__ == "__main__":
    sys.exit(main())
