"""`greenloop bench`: compares presets and models by what they solve, and at what cost.

It must not know how a task is run or judged; it reads arguments, names files, and prints the results.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from greenloop.cli import exit_codes, interrupt
from greenloop.core.errors import UsageError
from greenloop.engine.presets import IMPROVE
from greenloop.project import configuration
from greenloop_lab.bench import mbpp, on_ray, plans, results, sources, tasks, trajectories
from greenloop_lab.bench.history import commits as history
from greenloop_lab.bench.reporting import page, report
from greenloop_lab.bench.reporting.figures import compare_pairs, compute_figures
from greenloop_lab.bench.results import BROKEN
from greenloop_lab.bench.run import Experiment
from greenloop_lab.bench.run import run as run_experiment
from greenloop_lab.cli import bench_rates, bench_tuning
from greenloop_lab.cli.exporters import rows
from greenloop_lab.sandboxes.cluster import connection

SUMMARY = "compare presets and models on a set of tasks"
REPORT_WORD, TUNE_WORD, EXPORT_WORD, RATE_WORD = "report", "tune", "export", "rate"
OUT = Path("bench.jsonl")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="*",
        metavar="TASKS",
        help="mbpp:FILE, mutants:FILE (of MBPP), mutants:FOLDER or a FOLDER with tests, history:REPO[..RANGE] (past "
        "fixes), file:FILE (functions with checks), instructions:FILE (and limits), versions:FILE (and versions of "
        "packages), or a file of --write-tasks; "
        f"`{REPORT_WORD} RESULTS...` prints the figures of results again; `{TUNE_WORD} PRESET:TEMPLATE` looks for a "
        f"better prompt; `{EXPORT_WORD} RESULTS... --as FORMAT` writes their attempts as rows to learn from; "
        f"`{RATE_WORD} TASKS` measures tests that the model designs from docstrings, by right and by wrong programs",
    )
    parser.add_argument(
        "--arm",
        action="append",
        default=[],
        metavar="PRESET[:KEY=VALUE,...]",
        help="an arm to compare (repeatable; default: default, or improve with --goal); match=ARM allows as many "
        "model calls as that arm made; with --plan, run only the named arms",
    )
    parser.add_argument(
        "--goal",
        choices=("time", "memory"),
        help="optimise functions that already pass their tests, for less time or memory",
    )
    parser.add_argument("--plan", type=Path, metavar="FILE", help="read arms, settings and repeats from a TOML file")
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="as for `fix`; `reference` answers with each task's solution, `oracle` with the solution's text of the "
        "function it is asked about",
    )
    parser.add_argument(
        "--sample",
        type=int,
        metavar="N",
        help="number of tasks to draw (mutants, history: 10; others: all)",
    )
    parser.add_argument(
        "--commits",
        type=int,
        default=history.COMMITS,
        metavar="N",
        help=f"history: the newest commits that are read (default: {history.COMMITS})",
    )
    parser.add_argument(
        "--seed", type=int, default=7, help="random seed for drawing tasks and making mutants (default: 7)"
    )
    parser.add_argument(
        "--exclude",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="leave out tasks that occur in these files of results or tasks (repeatable)",
    )
    parser.add_argument("--task", action="append", default=[], metavar="ID", help="run only this task (repeatable)")
    parser.add_argument(
        "--shown",
        type=int,
        metavar="N",
        help="number of tests that are shown (default: 1; mutants of MBPP: all but one)",
    )
    parser.add_argument(
        "--told",
        action="append",
        choices=mbpp.LEVELS,
        help="mbpp: how much of the task's text is shown (repeatable)",
    )
    parser.add_argument(
        "--breadth", "--lines", type=int, default=1, choices=(1, 2, 3), help="lines that a mutant changes (default: 1)"
    )
    parser.add_argument(
        "--depth", type=int, default=1, choices=(1, 2, 3), help="changes stacked on each line of a mutant (default: 1)"
    )
    parser.add_argument("--repeats", type=int, metavar="N", help="runs of each task, each with another seed")
    parser.add_argument("--write-tasks", type=Path, metavar="FILE", help="write the tasks to FILE and run nothing")
    parser.add_argument(
        "--out", type=Path, help=f"file of results (default: {OUT}), or of `{EXPORT_WORD}` (default: standard output)"
    )
    parser.add_argument(
        "--answers", type=Path, metavar="FILE", help="file of recorded answers (default: next to the results)"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table as CSV")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write the figures and charts as one page")
    parser.add_argument("--svg", type=Path, metavar="FOLDER", help="also write each chart as an SVG file")
    bench_tuning.add_arguments(parser)
    parser.add_argument("--sandbox", metavar="KIND", help="auto, bubblewrap, docker or none")
    parser.add_argument(
        "--on",
        metavar="CLUSTER",
        help="run the tasks on the nodes of a Ray cluster: `ray` for the one of this machine, or ray://HOST:PORT",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="tasks that run at the same time here, for a model server that answers many requests at once; seconds are "
        "comparable with 1 only (default: 1)",
    )
    parser.add_argument(
        "--cpus", type=float, default=1.0, metavar="N", help="with --on: processors for each task (default: 1)"
    )
    parser.add_argument(
        "--set", dest="assignments", metavar="KEY=VALUE", action="append", default=[], help="any setting (repeatable)"
    )
    rows.add_arguments(parser, out=False)


def run(arguments: argparse.Namespace) -> int:
    if arguments.what[:1] == [REPORT_WORD]:
        return _report(arguments, [Path(name) for name in arguments.what[1:]])
    if arguments.what[:1] == [EXPORT_WORD]:
        return _export(arguments, [Path(name) for name in arguments.what[1:]])
    arguments.out = arguments.out or OUT
    if arguments.what[:1] == [TUNE_WORD]:
        return bench_tuning.run(arguments, _settings(arguments), _task_selection(arguments))
    if arguments.what[:1] == [RATE_WORD]:
        selection = replace(_task_selection(arguments), names=tuple(arguments.what[1:]))
        return bench_rates.run(arguments, _settings(arguments), selection)
    return _run(arguments)


def _export(arguments: argparse.Namespace, paths: list[Path]) -> int:
    if not paths:
        raise UsageError("No file of results was given.", remedy="Run `greenloop bench export FILE... --as FORMAT`.")
    trajectories.check_answers(paths)
    return rows.export(arguments, lambda: trajectories.read_trajectories(paths), origin="the results")


def _report(arguments: argparse.Namespace, paths: list[Path]) -> int:
    if not paths:
        raise UsageError("No file of results was given.", remedy="Run `greenloop bench report FILE...`.")
    _show_figures(results.read(paths), arguments)
    return exit_codes.VERIFIED


def _show_figures(done: list[results.TaskRunResult], arguments: argparse.Namespace) -> None:
    broken = frozenset(BROKEN)
    all_figures = compute_figures(done, broken)
    print(report.format_report(all_figures, compare_pairs(done, broken)))
    if arguments.csv is not None:
        page.write_file(arguments.csv, report.format_csv(all_figures))
    if arguments.html is not None:
        page.write_page(arguments.html, done, broken)
    if arguments.svg is not None:
        page.write_pictures(arguments.svg, done, broken)


def _run(arguments: argparse.Namespace) -> int:
    plan = plans.read(arguments.plan) if arguments.plan else None
    all_arms = plans.choose_arms(arguments.arm, plan, default=IMPROVE if arguments.goal else "default")
    settings = {**(plan.settings if plan else {}), **_settings(arguments)}
    repeats = (plan.repeats if plan else 1) if arguments.repeats is None else arguments.repeats
    if repeats < 1:
        raise UsageError("--repeats must be at least 1.")

    if arguments.jobs < 1:
        raise UsageError("--jobs must be at least 1.")
    if arguments.on is not None and arguments.jobs > 1:
        raise UsageError("--jobs and --on exclude each other.", remedy="With --on the nodes say how many run at once.")
    if not arguments.cpus > 0:
        raise UsageError("--cpus must be more than 0.")

    def report_status(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    cluster = None
    if arguments.on is not None:
        address = connection.parse_address(arguments.on)
        cluster = on_ray.RayCluster(address=address, report_status=report_status, processors=arguments.cpus)
    try:
        all_tasks = interrupt.run(sources.collect_tasks(_task_selection(arguments), settings, report_status))
        if arguments.write_tasks is not None:
            tasks.write(all_tasks, arguments.write_tasks)
            report_status(f"{len(all_tasks)} tasks in {arguments.write_tasks}")
            return exit_codes.VERIFIED
        answers = arguments.answers or arguments.out.with_suffix(".answers.jsonl")
        experiment = Experiment(
            tasks=all_tasks,
            arms=all_arms,
            out=arguments.out,
            answers=answers,
            repeats=repeats,
            settings=settings,
            history=arguments.out.with_suffix(".history.sqlite3"),
            goal=arguments.goal,
            cluster=cluster,
            jobs=arguments.jobs,
        )
        finished = interrupt.run(run_experiment(experiment, report_status))
    except asyncio.CancelledError:
        report_status("Stopped. Run the same command again to continue.")
        return exit_codes.CANCELLED
    _show_figures(finished, arguments)
    return exit_codes.VERIFIED


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    table: dict[str, Any] = configuration.parse_assignments(arguments.assignments)
    if arguments.model:
        table["model"] = arguments.model
    if arguments.sandbox:
        table["sandbox.kind"] = arguments.sandbox
    configuration.load(None, command_line=table)
    return table


def _task_selection(arguments: argparse.Namespace) -> sources.TaskSelection:
    return sources.TaskSelection(
        names=tuple(arguments.what) or (".",),
        sample=arguments.sample,
        seed=arguments.seed,
        exclude=tuple(arguments.exclude),
        only_ids=tuple(arguments.task),
        shown=arguments.shown,
        breadth=arguments.breadth,
        depth=arguments.depth,
        levels=tuple(arguments.told or [mbpp.FULL]),
        commits=arguments.commits,
        records=(arguments.write_tasks or arguments.out).with_suffix(".commits.jsonl"),
    )
