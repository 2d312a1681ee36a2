#!/usr/bin/env python3
"""MBPP through the engine: one test shown, all three judge. Resumable: one JSON line a task in the output file.

Each task becomes a small project: a module with the reference's signature, the task's text as docstring and no body,
and a test file with the first test. The engine works on that; the judge runs every test of the task afterwards,
in a sandbox of its own, over a folder that the engine never saw.
`--model reference` answers with the reference's own code: a check of this script, not of a model.
Runs are kept in the user's history like any others; set XDG_STATE_HOME to keep them apart.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import random
import statistics
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop import engine, settings
from greenloop.core.errors import GreenloopError
from greenloop.core.nouns import Outcome, Run, Status
from greenloop.core.verdict import judge
from greenloop.settings import Settings

MODULE, TESTS = "solution.py", "test_solution.py"


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task of the data set. `support` is what its tests use of the reference besides the function."""

    number: int
    text: str
    function: ast.FunctionDef
    support: tuple[ast.stmt, ...]
    reference: str
    setup: str
    tests: tuple[str, ...]


def task(row: Mapping[str, Any]) -> Task:
    """Raises `ValueError` where the tests call no function of the reference."""
    reference = row["code"].replace("\r\n", "\n")
    tree = ast.parse(reference)
    defined = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    used = _names(ast.parse("\n".join(row["test_list"]))) & set(defined)
    functions = [name for name in defined if name in used and isinstance(defined[name], ast.FunctionDef)]
    if not functions:
        raise ValueError(f"the tests of task {row['task_id']} call no function of its reference")
    # Where a test uses several, as in `assert check(make(1))`, the one called first in the text is the asked one.
    text = row["test_list"][0]
    asked = min(functions, key=lambda name: text.find(name) if name in text else len(text))
    function = defined[asked]
    assert isinstance(function, ast.FunctionDef)
    wanted = used - {asked}
    while more := {n for name in wanted for n in _names(defined[name]) & set(defined)} - wanted - {asked}:
        wanted |= more
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)] if wanted else []
    return Task(
        number=row["task_id"],
        text=row["text"].strip(),
        function=function,
        support=(*imports, *(defined[name] for name in defined if name in wanted)),
        reference=reference,
        setup=row["test_setup_code"],
        tests=tuple(row["test_list"]),
    )


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def stub(task: Task) -> str:
    """The module before: signature, docstring, `raise NotImplementedError`."""
    body: list[ast.stmt] = [ast.Expr(ast.Constant(task.text)), ast.Raise(exc=ast.Name("NotImplementedError"))]
    function = ast.FunctionDef(name=task.function.name, args=task.function.args, body=body, decorator_list=[])
    tree = ast.Module(body=[*task.support, function], type_ignores=[])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def test_file(task: Task, tests: Sequence[str]) -> str:
    head = f"from {Path(MODULE).stem} import *\n{task.setup}\n"
    return head + "".join(
        f"\n\ndef test_{number}():\n{textwrap.indent(text, '    ')}\n" for number, text in enumerate(tests, 1)
    )


def project(root: Path, module: str, tests: str) -> Path:
    root.mkdir()
    # The plugins of the environment this script runs in are no part of the tasks, and slow to import.
    (root / "pytest.ini").write_text("[pytest]\naddopts = --disable-plugin-autoload\n")
    (root / MODULE).write_text(module, encoding="utf-8")
    (root / TESTS).write_text(tests, encoding="utf-8")
    return root


async def judged(root: Path, count: int, found: Settings) -> tuple[int, bool]:
    """How many of the tests pass over the finished module, and whether the verdict is a pass."""
    sandbox, place = await engine.prepare(root, found)
    session = await sandbox.open(place)
    try:
        execution = await session.run(Run(selectors=(TESTS,), seconds=found.sandbox.seconds))
    finally:
        await session.close()
    verdict = judge([f"{TESTS}::test_{number}" for number in range(1, count + 1)], {}, execution)
    return verdict.passed, verdict.status is Status.PASSED


async def one(task: Task, folder: Path, found: Settings) -> dict[str, Any]:
    """The record of one task. Raises `GreenloopError` where nothing can be measured."""
    shown = test_file(task, task.tests[:1])
    root = project(folder / "shown", stub(task), shown)
    began = time.monotonic()
    outcome = await engine.refine(
        engine.Request(root=root, target=f"{TESTS}::test_1"), settings=found, emit=lambda _event: None
    )
    seconds = time.monotonic() - began
    passed, good = 0, False
    if outcome.solved:
        everything = project(folder / "judge", outcome.after[MODULE], test_file(task, task.tests))
        passed, good = await judged(everything, len(task.tests), found)
    return {
        "task": task.number,
        "shown_passed": outcome.solved,
        "verified": outcome.verified.value,
        "reason": outcome.reason.value,
        "attempts": max(len(outcome.attempts) - 1, 0),
        # A later attempt is made only where the first one fails the shown test, which judges too.
        "first": good and outcome.best == 1,
        "end": good,
        "judge_passed": passed,
        "judge_total": len(task.tests),
        "errors": [attempt.error_class for attempt in outcome.attempts[1:]],
        "error_class": "" if good else _last_error(outcome),
        "prompt_tokens": outcome.usage.prompt_tokens,
        "completion_tokens": outcome.usage.completion_tokens,
        "seconds": round(seconds, 2),
        "model_seconds": round(outcome.usage.model_seconds, 2),
        "test_seconds": round(outcome.usage.test_seconds, 2),
    }


def _last_error(outcome: Outcome) -> str:
    return "hidden test" if outcome.solved else outcome.attempts[-1].error_class or outcome.reason.value


def scripted(task: Task, folder: Path) -> str:
    """A model that answers with the reference."""
    script = folder / "reference.jsonl"
    script.write_text(json.dumps(f"```python\n{task.reference}\n```") + "\n")
    return f"scripted:{script}"


def done(out: Path, arm: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """The records of this arm by task; a line that was cut off by a kill is left out."""
    records = {}
    for line in out.read_text(encoding="utf-8").splitlines() if out.exists() else ():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if all(record.get(key) == value for key, value in arm.items()):
            records[record["task"]] = record
    return records


def table(records: Iterable[Mapping[str, Any]]) -> str:
    rows = list(records)
    if not rows:
        return "no task is done yet"
    solved = [row for row in rows if row["end"]]
    tokens = statistics.mean(row["prompt_tokens"] + row["completion_tokens"] for row in rows)
    errors = Counter(row["error_class"] for row in rows if not row["end"])
    lines = [
        f"tasks                       {len(rows)}",
        f"solved at the first attempt {sum(row['first'] for row in rows)}",
        f"solved at the end           {len(solved)}",
        f"shown test passed           {sum(row['shown_passed'] for row in rows)}",
        f"tokens a task               {tokens:.0f}",
        f"seconds a task              {statistics.mean(row['seconds'] for row in rows):.1f}",
    ]
    if solved:
        lines.append(f"attempts on solved tasks    {statistics.mean(row['attempts'] for row in solved):.2f}")
    lines.append("unsolved ended in           " + (", ".join(f"{n} {e}" for e, n in errors.most_common()) or "-"))
    return "\n".join(lines)


async def run(arguments: argparse.Namespace) -> int:
    rows = [json.loads(line) for line in arguments.data.read_text(encoding="utf-8").splitlines() if line.strip()]
    # The global functions, for the sample must be the one that `random.seed(7)` gives everywhere.
    random.seed(arguments.seed)
    sample = random.sample(rows, min(arguments.sample, len(rows))) if arguments.sample else rows
    sample = [row for row in sample if not arguments.task or row["task_id"] in arguments.task]
    arm = {"model": arguments.model, "preset": arguments.preset, "limit": arguments.attempts}
    records = done(arguments.out, arm)
    with arguments.out.open("a", encoding="utf-8") as file:
        if file.tell() and not arguments.out.read_text(encoding="utf-8").endswith("\n"):
            file.write("\n")
        for number, row in enumerate(sample, 1):
            if row["task_id"] in records:
                continue
            with tempfile.TemporaryDirectory(prefix="greenloop-mbpp-") as name:
                record = arm | await _measured(row, Path(name), arguments)
            file.write(json.dumps(record) + "\n")
            file.flush()
            records[row["task_id"]] = record
            word = "solved" if record["end"] else record["error_class"]
            print(f"{number}/{len(sample)} task {record['task']}: {word}, {record['attempts']} attempts", flush=True)
    print(table(records[row["task_id"]] for row in sample))
    return 0


async def _measured(row: Mapping[str, Any], folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    subject = task(row)
    values = settings.parse_assignments(arguments.assignments) | {
        "model": scripted(subject, folder) if arguments.model == "reference" else arguments.model,
        "preset": arguments.preset,
        "attempts": arguments.attempts,
        "interpreter": sys.executable,
    }
    found, _warnings = settings.load(None, command_line=values)
    return await one(subject, folder, found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="mbpp.jsonl, the full set of 974 tasks")
    parser.add_argument("--model", default="local")
    parser.add_argument("--preset", default="plain")
    parser.add_argument("--attempts", type=int, default=5)
    parser.add_argument("--sample", type=int, default=60, help="tasks drawn; 0: all (default 60)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--task", type=int, action="append", help="only this task of the sample; repeatable")
    parser.add_argument("--set", dest="assignments", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, default=Path("mbpp-results.jsonl"))
    try:
        return asyncio.run(run(parser.parse_args()))
    except GreenloopError as error:
        print(f"{error} {error.remedy}".strip(), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
