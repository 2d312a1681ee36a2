"""Measures `greenloop improve`: noise, right and wrong faster versions, and what a model makes of slow functions.

benchmarks/improve.py noise --times 1000     your code against itself: how often does it count as faster?
benchmarks/improve.py seeded                 30 slow functions: are better ones accepted, and wrong ones refused?
benchmarks/improve.py model --model local    the same functions with a model: how many, how much faster, what cost?
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import textwrap
import time
import tomllib
from pathlib import Path
from statistics import geometric_mean, median
from typing import NamedTuple

from greenloop.core.events import Event, Tested
from greenloop.core.records.goal import Goal
from greenloop.core.records.outcome import Outcome
from greenloop.engine import refine
from greenloop.project.configuration import load


class Task(NamedTuple):
    """A slow function whose test passes; `wrong` is faster and passes it too, but does something else elsewhere."""

    name: str
    slow: str
    better: str
    wrong: str
    test: str


TASKS = [Task(**task) for task in tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["task"]]


def write_project(folder: Path, task: Task, answers: list[str]) -> None:
    body = textwrap.indent(task.test, "    ")
    (folder / "m.py").write_text(task.slow)
    (folder / "test_m.py").write_text(f"from m import {task.name}\n\n\ndef test_{task.name}():\n{body}")
    rows = (json.dumps(f"```python\n{answer}```") for answer in answers)
    (folder / "answers.jsonl").write_text("".join(f"{row}\n" for row in rows))


def improve(task: Task, answers: list[str], **words: object) -> tuple[Outcome, list[str], float]:
    """Runs one task; returns the outcome, the error classes of the attempts, and the seconds."""
    errors: list[str] = []

    def emit(event: Event) -> None:
        if isinstance(event, Tested) and event.attempt.number:
            errors.append(event.attempt.error_class)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, task, answers)
        words = {"model": f"scripted:{folder / 'answers.jsonl'}", **words}
        settings, _warnings = load(None, command_line=words)
        request = refine.Request(root=folder, target=f"m.py::{task.name}", goal=Goal.TIME)
        began = time.perf_counter()
        outcome = asyncio.run(refine.refine(request, settings=settings, emit=emit))
        return outcome, errors, time.perf_counter() - began


def measure_noise(times: int) -> None:
    accepted = tried = 0
    for number in range(times):
        task = TASKS[number % len(TASKS)]
        same = task.slow.replace("\n    ", f"\n    unused = {number}\n    ", 1)
        outcome, errors, _seconds = improve(task, [same], attempts=1)
        tried += errors == ["NotFaster"] or outcome.applicable
        accepted += outcome.applicable
    print(f"{tried} measured, {accepted} accepted")


def run_seeded() -> None:
    better = wrong = 0
    noticed: list[str] = []
    ratios, costs = [], []
    for task in TASKS:
        outcome, errors, seconds = improve(task, [task.better], attempts=1)
        gain = outcome.evidence.gain
        better += outcome.applicable
        if outcome.applicable and gain:
            ratios.append(gain.ratio)
            costs.append(seconds / gain.before)
        else:
            print(f"{task.name}: better version not accepted: {errors} {outcome.message}")
        outcome, errors, _seconds = improve(task, [task.wrong], attempts=1)
        wrong += outcome.applicable
        noticed += errors[:1]
        if outcome.applicable:
            print(f"{task.name}: wrong version accepted")
    print(f"better versions accepted: {better} of {len(TASKS)}, median ratio {median(ratios):.3f}")
    print(f"wrong versions accepted: {wrong} of {len(TASKS)}; noticed as {sorted({*noticed})}")
    print(f"a run takes {median(costs):.0f} times the workload (median)")


def run_model(model: str, seconds: float) -> None:
    gains, tokens, solved = [], 0, 0
    for task in TASKS:
        outcome, errors, spent = improve(task, [], model=model, seconds=seconds)
        tokens += outcome.usage.prompt_tokens + outcome.usage.completion_tokens
        gain = outcome.evidence.gain if outcome.solved else None
        solved += outcome.applicable
        gains += [gain.ratio] if gain else []
        print(f"{task.name}: {f'{gain.ratio:.3f}' if gain else 'not improved'} {errors} {spent:.0f} s", flush=True)
    opt = 100 * solved / len(TASKS)
    speed = f", geometric mean speed-up {1 / geometric_mean(gains):.1f}" if gains else ""
    print(f"{solved} of {len(TASKS)} at least 10 % faster and right ({opt:.0f} %){speed}, {tokens} tokens")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("noise", "seeded", "model"))
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--model", default="local")
    parser.add_argument("--seconds", type=float, default=120.0)
    arguments = parser.parse_args()
    if arguments.what == "noise":
        measure_noise(arguments.times)
    elif arguments.what == "seeded":
        run_seeded()
    else:
        run_model(arguments.model, arguments.seconds)


if __name__ == "__main__":
    main()
