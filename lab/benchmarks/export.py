#!/usr/bin/env python3
"""Measures the export of a long history: seconds, of them processor time, and peak memory for each format.

A history of `--attempts` attempts, ten in each run, is made in a temporary folder; each export is a process of its own.
Parquet is measured where pyarrow is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "server"
sys.path.insert(0, str(SOURCES))

from greenloop.core import registry  # noqa: E402
from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote, Move, Sent  # noqa: E402
from greenloop.core.records.model import Message, Role  # noqa: E402
from greenloop.core.records.outcome import Outcome, StopReason, Verified  # noqa: E402
from greenloop.core.records.spec import Region  # noqa: E402
from greenloop.core.records.verdict import Status, Verdict  # noqa: E402
from greenloop.engine.history.rows import StoredProblem  # noqa: E402
from greenloop.engine.history.store import History  # noqa: E402
from greenloop_sandbox import CaseResult, Failure  # noqa: E402

IN_A_RUN = 10
CASES = 5
ERRORS = ("AssertionError", "TypeError", "KeyError", "IndexError")
REGION = Region(path="shop/cart.py", qualname="total", start=1, end=30)
WORDS = ("price", "count", "total", "items", "rate", "shop", "order", "value", "name", "limit")


def code(rng: random.Random, lines: int = 30) -> str:
    """A function of some lines."""
    body = (f"    {rng.choice(WORDS)} = {rng.choice(WORDS)} * {rng.randrange(99)} + offset" for _ in range(lines))
    return "\n".join(("def total(items, price, count, rate):", *body, "    return total", ""))


def verdict(passed: int) -> Verdict:
    failure = Failure(type="AssertionError", message="assert 3 == 4", text="E   assert 3 == 4\n" * 20)
    cases = tuple(
        CaseResult(id=f"test_cart.py::test_{n}", outcome="passed" if n < passed else "failed")
        if n < passed
        else CaseResult(id=f"test_cart.py::test_{n}", outcome="failed", failure=failure)
        for n in range(CASES)
    )
    status = Status.PASSED if passed == CASES else Status.FAILED
    return Verdict(status=status, cases=cases, output="E   assert 3 == 4\n" * 40)


def attempt(rng: random.Random, number: int, passed: int) -> Attempt:
    text = code(rng)
    messages = (Message(role="system", content="You write Python."), Message(role="user", content=text * 4))
    return Attempt(
        number=number,
        parent=number - 1,
        verdict=verdict(passed),
        draft=Draft(parent=number - 1, move=Move.REFINE, role=Role.REFINER),
        model="local",
        answer=f"```python\n{text}```",
        candidate=Candidate(texts={REGION: text}),
        error_class="" if passed == CASES else rng.choice(ERRORS),
        notes=(FeedbackNote(text="E   assert 3 == 4\n" * 20),),
        sent=Sent(templates={"system": "0" * 12, "task": "1" * 12, "refine": "2" * 12}, messages=messages),
        accepted=passed == CASES,
    )


def fill(path: Path, attempts: int) -> None:
    """Makes a history of runs in which the last attempt is accepted, in every second one."""
    rng = random.Random(7)
    history = History.open(path, keep=attempts)
    for number in range(attempts // IN_A_RUN):
        run = history.start_run(Path("/w"), f"t.py::test_{number % 50}", preset="plain", model="local", sandbox="b")
        original = code(rng)
        history.save_problem(run, StoredProblem(names="total", code={REGION: original}))
        solved = number % 2 == 0
        made = [Attempt(number=0, verdict=verdict(0), error_class="AssertionError")]
        made += [attempt(rng, each, rng.randrange(CASES)) for each in range(1, IN_A_RUN)]
        made.append(attempt(rng, IN_A_RUN, CASES if solved else 0))
        end = Outcome(
            solved=solved,
            verified=Verified.VERIFIED if solved else Verified.UNVERIFIED,
            reason=StopReason.SOLVED if solved else StopReason.ATTEMPTS,
            message="",
            attempts=tuple(made),
        )
        history.finish_run(run, replace(end, best=IN_A_RUN))
    history.close()


def measure(state: Path, words: list[str], out: Path) -> tuple[float, float, float, int]:
    """Seconds, seconds of processor time, peak mebibytes of memory, and the size of the file."""
    command = [sys.executable, "-m", "greenloop", "history", "export", *words, "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "XDG_STATE_HOME": str(state)}
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _pid, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(words)} failed")
    seconds, processor = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
    return seconds, processor, usage.ru_maxrss / 1024, out.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=10_000)
    arguments = parser.parse_args()
    kinds = registry.list_parts("export")
    suffixes = ["jsonl", *(["parquet"] if importlib.util.find_spec("pyarrow") else [])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        history = folder / "greenloop" / "history.sqlite3"
        fill(history, arguments.attempts)
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{arguments.attempts} attempts, history {history.stat().st_size >> 20} MiB (making it: {own:.0f} MiB)")
        exports = [(["--as", kind], suffix) for kind in kinds for suffix in suffixes]
        exports += [(["--as", "turns", "--select", "diverse", "-n", "500"], "jsonl")]
        for number, (words, suffix) in enumerate(exports):
            seconds, processor, memory, size = measure(folder, words, folder / f"{number}.{suffix}")
            figures = f"{seconds:6.1f} s {processor:6.1f} s {memory:6.0f} MiB {size / 1e6:7.1f} MB"
            print(f"{' '.join(words):45} {suffix:8} {figures}", flush=True)


if __name__ == "__main__":
    main()
