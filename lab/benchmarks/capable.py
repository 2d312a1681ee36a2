#!/usr/bin/env python3
"""Measures past fixes with a capable model whose answers are recorded or given by hand, next to mini-swe-agent.

Run: python lab/benchmarks/capable.py TASKS --answers FILE [--mini MINI] [--task ID ...] --out FILE

TASKS is a file of lab/benchmarks/history.py. The same tasks are given to `greenloop bench` and, with --mini, to
mini-swe-agent (https://mini-swe-agent.com, its executable is MINI), which gets bash in the same tree, with the same
interpreter. Both ask a server on this machine, and the same tests judge both: those of the commit, and the other tests
of the target's file. Questions, looks, tokens (four characters each), seconds without the answers, and changed lines
are printed for each task, with the lines that the commit changed.

With --ask FOLDER the answers are not recorded yet: each request becomes a file below FOLDER/TOOL/TASK/req, and its
answer is awaited in FOLDER/TOOL/TASK/ans; what was answered is added to the --answers file. Who answers may see nothing
but the requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import os
import statistics
import subprocess
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from pathlib import Path
from typing import Any

from answering import CHARACTERS, Answer, from_files, from_list, serve

from greenloop.core.text.diff import count_changed_lines
from greenloop.plugins.conversations.clean_edit import find_blemishes
from greenloop.project.settings import Settings
from greenloop.project.sources import is_trusted
from greenloop_lab.bench import task_folder, tasks
from greenloop_lab.bench.hidden_tests import Judge
from greenloop_lab.bench.history import tree
from greenloop_lab.bench.plans import settings_for
from greenloop_lab.bench.task_folder import Place
from greenloop_lab.bench.tasks import Task
from greenloop_sandbox import SandboxPool

MODEL = "openai/gpt-5.1"
PYTHON = "{python}"  # in recorded answers, the interpreter of their task
SECONDS = 3600  # of a run, which waits for answers by hand
STATEMENT = (
    "The test {target} fails. Change the code of this project so that it passes, for the right reason: what a "
    "maintainer would merge. Do not change tests. Run tests with: {python} -m pytest TEST"
)
COLUMNS = ("tool", "task", "solved", "verified", "questions", "looks", "tokens", "seconds", "lines", "upstream")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("--answers", type=Path, required=True, help="recorded answers (.jsonl or .jsonl.xz)")
    parser.add_argument("--mini", type=Path, help="mini-swe-agent's executable `mini`; without it, greenloop alone")
    parser.add_argument("--tool", choices=["greenloop", "mini"], help="only this one")
    parser.add_argument("--task", action="append", default=[], metavar="ID", help="only this task (repeatable)")
    parser.add_argument("--ask", type=Path, metavar="FOLDER", help="ask for answers that are not recorded")
    parser.add_argument("--out", type=Path, required=True, help="file of results")
    arguments = parser.parse_args()
    recorded = _read_answers(arguments.answers)
    rows = []
    for task in tasks.read(arguments.tasks):
        for tool in ("greenloop", *(["mini"] if arguments.mini else [])):
            if (arguments.task and task.id not in arguments.task) or arguments.tool not in (None, tool):
                continue
            known = recorded.get((tool, task.id))
            if known is None and arguments.ask is None:
                continue
            given = [text.replace(PYTHON, task.interpreter) for text in known or ()]
            answer = from_files(arguments.ask / tool / task.id) if known is None else from_list(given)
            row = asyncio.run(measure(task, tool, answer, arguments.mini))
            if known is None:
                answers = [text.replace(task.interpreter, PYTHON) for text in row["answers"]]
                _add_answers(arguments.answers, tool, task.id, answers)
            rows.append(row)
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print("\t".join(str(row[name]) for name in COLUMNS), flush=True)
    for tool in dict.fromkeys(row["tool"] for row in rows):
        print(summary(tool, [row for row in rows if row["tool"] == tool]))
    return 0


async def measure(task: Task, tool: str, answer: Answer, mini: Path | None) -> dict[str, Any]:
    """One task with one tool."""
    with tempfile.TemporaryDirectory(prefix="capable-") as name, serve(answer) as (address, requests):
        folder = Path(name)
        settings = settings_for({"interpreter": task.interpreter}, Path(task.folder))
        place = task_folder.lay_out_task(task, folder, settings)
        old = {path: (place.root / path).read_text(encoding="utf-8") for path in task.solution}
        if tool == "greenloop":
            run = _run_greenloop(task, address, folder)
        else:
            run = await _run_mini(task, address, folder, mini, place, settings)
        answered = [request for request in requests if "answer" in request]
        tokens = sum(each["prompt_tokens"] + len(each["answer"]) // CHARACTERS for each in answered)
        answers = [each["answer"] for each in answered]
        row = {"tool": tool, "task": task.id, "kind": task.kind, "requests": len(answered), "tokens": tokens, **run}
        row["upstream"] = count_changed_lines(old, task.solution)
        row.setdefault("questions", len(answered))
        if tool == "mini":
            row["seconds"] = round(run["ended"] - answered[0]["began"] - sum(each["seconds"] for each in answered), 1)
        return {**row, "answers": answers}


def _run_greenloop(task: Task, address: str, folder: Path) -> dict[str, Any]:
    file, out = folder / "tasks.jsonl", folder / "results.jsonl"
    tasks.write([task], file)
    settings = {"model": MODEL, "api.base": address, "api.timeout": SECONDS, "seconds": SECONDS}
    command = [sys.executable, "-m", "greenloop", "bench", str(file), "--arm", "default", "--out", str(out)]
    command += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    environment = {**os.environ, "OPENAI_API_KEY": "none", "XDG_STATE_HOME": str(folder / "state")}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    run = next(row for row in found if row["kind"] == "run")
    return {
        "solved": run["right"],
        "shown": run["shown_passed"],
        "verified": run["verified"],
        "questions": run["attempts"],
        "looks": run["looks"],
        "seconds": round(run["wall_seconds"] - run["model_seconds"], 1),
        "wall": run["wall_seconds"],
        "lines": run["changed_lines"],
        "blemishes": run["blemishes"],
        "message": run["message"],
    }


async def _run_mini(
    task: Task, address: str, folder: Path, mini: Path | None, place: Place, settings: Settings
) -> dict[str, Any]:
    before = _texts(place.root)
    configuration = ["mini_textbased.yaml", f"model.model_kwargs.api_base={address}", "agent.cost_limit=0"]
    # For its commands alone: the project may be a library that the agent itself uses.
    configuration += [f"environment.env.{name}={value}" for name, value in place.variables.items()]
    command = [str(mini), "-y", "--exit-immediately", "-m", MODEL, "-o", str(folder / "trajectory.json")]
    command += ["--model-class", "litellm_textbased", *(word for each in configuration for word in ("-c", each))]
    command += ["-t", STATEMENT.format(target=task.target, python=task.interpreter)]
    environment = {**os.environ, "OPENAI_API_KEY": "none", "MSWEA_COST_TRACKING": "ignore_errors"}
    environment |= {"MSWEA_CONFIGURED": "true", "MSWEA_SILENT_STARTUP": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    process = await asyncio.create_subprocess_exec(
        *command, cwd=place.root, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
    )
    await process.wait()
    ended = time.monotonic()
    after = {path: text for path, text in _texts(place.root).items() if before.get(path) != text}
    changed = {path: text for path, text in after.items() if not is_trusted(path, None)}
    own = {path: before[path] for path in changed if path in before}
    pool = SandboxPool()
    lay = tree.show_test_data(settings, place.root)
    judge = Judge(task=task, root=place.root, settings=lay, pool=pool, variables=place.variables)
    judgement = await judge(changed)
    await pool.close()
    return {
        "solved": judgement.right,
        "shown": judgement.shown,
        "verified": "-",
        "looks": 0,
        "lines": count_changed_lines(own, {path: changed[path] for path in own}),
        "blemishes": len(find_blemishes(own, changed)),
        "ended": ended,
    }


def _texts(root: Path) -> dict[str, str]:
    found = {}
    for file in sorted(root.rglob("*")):
        if file.is_file() and ".git" not in file.parts and "__pycache__" not in file.parts:
            try:
                found[file.relative_to(root).as_posix()] = file.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


def summary(tool: str, rows: list[dict[str, Any]]) -> str:
    """The figures of one tool over its tasks."""
    solved = [row for row in rows if row["solved"]]
    ratios = [row["lines"] / row["upstream"] for row in solved if row["upstream"] and row["lines"]]
    parts = [
        f"{tool}: {len(solved)} of {len(rows)} solved",
        f"over-fit {sum(row['shown'] and not row['solved'] for row in rows)}",
        f"with unreachable, overwritten or repeated code {sum(row['blemishes'] > 0 for row in rows)}",
        *(_mean(rows, name) for name in ("questions", "looks", "tokens", "seconds")),
        f"lines of the commit's: median {statistics.median(ratios):.2f}" if ratios else "",
    ]
    return "; ".join(part for part in parts if part)


def _mean(rows: list[dict[str, Any]], name: str) -> str:
    values = [row[name] for row in rows]
    return f"{name}: median {statistics.median(values):g}, mean {statistics.fmean(values):.1f}"


def _read_answers(path: Path) -> dict[tuple[str, str], list[str]]:
    if not path.exists():
        return {}
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
    rows = [json.loads(line) for line in text.splitlines()]
    return {(row["tool"], row["task"]): row["answers"] for row in rows}


def _add_answers(path: Path, tool: str, task: str, answers: list[str]) -> None:
    row = json.dumps({"tool": tool, "task": task, "answers": answers}) + "\n"
    with lzma.open(path, "at") if path.suffix == ".xz" else path.open("a", encoding="utf-8") as file:
        file.write(row)


if __name__ == "__main__":
    sys.exit(main())
