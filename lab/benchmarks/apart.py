#!/usr/bin/env python3
"""Measures the cost of judging apart: a call across, and a whole run next to pytest on the host.

Run: python lab/benchmarks/apart.py [--calls N] [--rounds N]

Each figure is the median of the rounds, all taken in this one process, in the bubblewrap sandbox. `objects` is the
number of objects of the project that a call reaches and leaves as they are.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from greenloop_sandbox import Apart, Environment, SandboxSpec, TestRun, case_results
from greenloop_sandbox.backends.bubblewrap import Bubblewrap
from greenloop_sandbox.report.cases import records_of_kind

OWN = (
    "class Part:\n    def __init__(self, number):\n        self.number = number\n\n\ndef count(parts):\n    return 0\n"
)
NEW = OWN.replace("return 0", "return len(parts)")
TEST = """from m import Part, count


def test_calls():
    parts = [Part(number) for number in range({objects})]
    for _ in range({calls}):
        assert count(parts) == {objects}


def test_once():
    assert count([1]) == 1
"""
INI = "[pytest]\naddopts = -p no:cacheprovider\n"
SIZES = (0, 10, 100, 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.calls, arguments.rounds))


async def measure(calls: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="greenloop-apart-") as folder:
        root = _lay_out(Path(folder))
        session = await Bubblewrap().open(SandboxSpec(root=root, environment=_environment()))
        try:
            print(f"{'objects':>8} {'ms a call':>10}")
            for objects in SIZES:
                some = max(20, calls // max(1, objects // 10))
                (root / f"test_{objects}.py").write_text(TEST.format(objects=objects, calls=some), encoding="utf-8")
                seconds = [await _seconds(session, f"test_{objects}.py::test_calls") for _ in range(rounds)]
                print(f"{objects:>8} {statistics.median(seconds) / some * 1000:>10.3f}")
            ratios = [await _ratio(session, root) for _ in range(rounds)]
            apart, host = (statistics.median(each) for each in zip(*ratios, strict=True))
            print(f"one test: apart {apart:.2f} s, pytest on the host {host:.2f} s, ratio {apart / host:.2f}")
        finally:
            await session.close()


async def _seconds(session: object, case: str) -> float:
    execution = await session.run(_run(case))  # type: ignore[attr-defined]
    (result,) = case_results(execution)
    (record,) = records_of_kind(execution, "apart")
    if not result.passed or record["unfit"]:
        raise SystemExit(f"{case} did not pass apart: {record['unfit'] or result.failure}")
    return result.seconds


async def _ratio(session: object, root: Path) -> tuple[float, float]:
    began = time.perf_counter()
    await session.run(_run("test_10.py::test_once"))  # type: ignore[attr-defined]
    apart = time.perf_counter() - began
    return apart, _host_seconds(root)


def _host_seconds(root: Path) -> float:
    (root / "m.py").write_text(NEW, encoding="utf-8")
    began = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "test_10.py::test_once"]
    subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - began
    (root / "m.py").write_text(OWN, encoding="utf-8")
    return seconds


def _lay_out(root: Path) -> Path:
    root.chmod(0o755)
    (root / "pytest.ini").write_text(INI, encoding="utf-8")
    (root / "m.py").write_text(OWN, encoding="utf-8")
    return root


def _run(case: str) -> TestRun:
    return TestRun(selectors=(case,), apart=Apart(files={"m.py": NEW}, tests=(case.partition("::")[0],)), seconds=120.0)


def _environment() -> Environment:
    return Environment(
        executable=Path(sys.executable),
        prefix=Path(sys.prefix),
        base=Path(sys.base_prefix),
        version=sys.version_info[:2],
        source="this benchmark",
        has_pytest=True,
    )


if __name__ == "__main__":
    main()
