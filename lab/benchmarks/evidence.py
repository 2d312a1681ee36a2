#!/usr/bin/env python3
"""Known results in like-for-like set-ups, with the model at hand: runs what is missing, and says what is shown.

Run: python lab/benchmarks/evidence.py PLAN --mbpp FILE [--out FOLDER] [--only NAME ...] [--sample N]

PLAN is a file of plans/: the model, the number of tasks, how many run at once, settings. The experiments are those of
evidence.toml; each is one `greenloop bench` command, which is printed. The results of each are in a file of FOLDER, so
the same call goes on where it was stopped. What two experiments ask alike is answered once: all share one file of
recorded answers. A new FOLDER begins with those of answers/ that were recorded for the plan's model, if there are any:
the published tables can be made again without asking it for hours. `--report` runs nothing.

A comparison is shown where the arm that the published result puts first solves more in an exact McNemar test on the
same tasks (p < 0.05), refuted where the other one does, and undecided otherwise.
"""

from __future__ import annotations

import argparse
import lzma
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from greenloop_lab.bench import results
from greenloop_lab.bench.reporting.figures import Pair, compare_pairs, compute_figures, is_right, wilson
from greenloop_lab.bench.reporting.report import format_report
from greenloop_lab.bench.results import BROKEN, TaskRunResult

HERE = Path(__file__).parent
CERTAIN = 0.05
ANSWERS = "answers.jsonl"
Table = Mapping[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path, help="a file of lab/benchmarks/plans")
    parser.add_argument("--mbpp", type=Path, required=True, help="the file of MBPP, mbpp.jsonl")
    parser.add_argument("--out", type=Path, default=Path("evidence"), help="folder of results (default: evidence)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this experiment (repeatable)")
    parser.add_argument("--sample", type=int, metavar="N", help="tasks of each experiment, in place of the plan's")
    parser.add_argument("--report", action="store_true", help="run nothing, say what the results show so far")
    arguments = parser.parse_args()
    plan = tomllib.loads(arguments.plan.read_text(encoding="utf-8"))
    plan |= {"sample": arguments.sample} if arguments.sample else {}
    experiments = tomllib.loads((HERE / "evidence.toml").read_text(encoding="utf-8"))["experiment"]
    if unknown := {*arguments.only, *plan.get("skip", ())} - {each["name"] for each in experiments}:
        parser.error(f"there is no experiment {min(unknown)}")
    if not arguments.mbpp.is_file():
        parser.error("name the file of MBPP: --mbpp mbpp.jsonl, or make evidence MBPP=mbpp.jsonl")
    arguments.out.mkdir(parents=True, exist_ok=True)
    wanted = [each for each in experiments if is_wanted(each["name"], plan, arguments.only)]
    if any(each["tasks"] == "upgrades" for each in wanted) and not arguments.report:
        download_packages(HERE / "upgrades.toml")
    take_recorded(arguments.plan, arguments.out / ANSWERS)
    status = 0
    for experiment in wanted:
        out = arguments.out / f"{experiment['name']}.jsonl"
        command = bench_command(experiment, plan, arguments.mbpp, out)
        print(f"\n## {experiment['question']}\n\n{shlex.join(['greenloop', *command])}\n", flush=True)
        if not arguments.report:
            done = subprocess.run([sys.executable, "-m", "greenloop", *command], stdout=subprocess.DEVNULL, check=False)
            status = max(status, done.returncode)
        if out.exists():
            print(describe(experiment, [*results.read([out]), *beside(experiment, arguments.out)]), flush=True)
    return status


def is_wanted(name: str, plan: Table, only: Sequence[str]) -> bool:
    return name not in plan.get("skip", ()) and name in (only or [name])


def download_packages(recipe: Path) -> None:
    """Fills the folder of wheels that the recipe names, once."""
    for environment in tomllib.loads(recipe.read_text(encoding="utf-8"))["environments"]:
        folder = recipe.parent / environment["wheels"]
        if not any(folder.glob("*.whl")):
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", str(folder)]
            subprocess.run([*pip, *environment["packages"]], stdout=subprocess.DEVNULL, check=True)


def beside(experiment: Table, out: Path) -> list[TaskRunResult]:
    """What an arm of another experiment did with the same tasks, under a name of its own, if it has run."""
    other = experiment.get("beside")
    path = out / f"{other['experiment']}.jsonl" if other else None
    done = results.read([path]) if other and path and path.exists() else []
    return [replace(each, run={**each.run, "arm": other["name"]}) for each in done if each.run["arm"] == other["arm"]]


def take_recorded(plan: Path, answers: Path) -> None:
    """Writes the answers that were recorded for the plan, unless there are some already."""
    recorded = HERE / "answers" / f"{plan.stem}.jsonl.xz"
    if recorded.is_file() and not answers.exists():
        answers.write_bytes(lzma.decompress(recorded.read_bytes()))


def bench_command(experiment: Table, plan: Table, mbpp: Path, out: Path) -> list[str]:
    """The words after `greenloop` that run the experiment, or the rest of it."""
    sources = {"mbpp": f"mbpp:{mbpp}", "mutants": f"mutants:{mbpp}", "upgrades": f"versions:{HERE / 'upgrades.toml'}"}
    source = sources[experiment["tasks"]]
    words = ["bench", source, "--sample", str(plan["sample"]), "--seed", str(plan["seed"]), "--model", plan["model"]]
    words += ["--plan", str(HERE / "ablations" / f"{experiment['plan']}.toml")] if "plan" in experiment else []
    words += [word for arm in experiment.get("arms", ()) for word in ("--arm", arm)]
    words += [word for level in experiment.get("told", ()) for word in ("--told", level)]
    words += ["--shown", str(experiment["shown"])] if "shown" in experiment else []
    words += ["--repeats", str(experiment.get("repeats", 1)), "--jobs", str(plan.get("jobs", 1)), "--out", str(out)]
    words += ["--answers", str(out.with_name(ANSWERS))]
    settings = flatten(plan.get("settings", {}))
    return words + [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def flatten(table: Table, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def describe(experiment: Table, done: Sequence[TaskRunResult]) -> str:
    """The table of the arms, and a sentence for each comparison."""
    pairs = compare_pairs(done, BROKEN)
    rows = [format_report(compute_figures(done, BROKEN), [])]
    rows += [judge(each, pairs) for each in experiment.get("compare", ())]
    if levels := experiment.get("compare_told"):
        by_level = compare_pairs([*map(told_as_arm, done)], BROKEN)
        rows += [judge(each, by_level) for each in levels]
    if at_end := experiment.get("compare_last"):
        last = [replace(each, run={**each.run, "right": is_right(each, each.run["candidates"])}) for each in done]
        rows += [f"{judge(each, compare_pairs(last, BROKEN))} By the last answer of each." for each in at_end]
    return "\n".join(rows)


def told_as_arm(done: TaskRunResult) -> TaskRunResult:
    """The result as one of the task itself, with how much was told of it (`mbpp-2-half`) in place of the arm."""
    number, _dash, level = done.run["task"].partition("-")[2].partition("-")
    return replace(done, run={**done.run, "task": number, "arm": level or "full"})


def judge(wanted: Table, pairs: Sequence[Pair]) -> str:
    better, other = wanted["better"], wanted["than"]
    pair = next((each for each in pairs if {each.one, each.other} == {better, other}), None)
    if pair is None or not pair.count:
        return f"- '{better}' beside '{other}': not measured."
    gained, lost = (pair.only_one, pair.only_other) if pair.one == better else (pair.only_other, pair.only_one)
    word = "undecided" if pair.p >= CERTAIN else "shown" if gained > lost else "refuted"
    shares = ", ".join(share(pair.both + count, pair.count) for count in (gained, lost))
    return (
        f"- '{better}' solves more than '{other}': {word}. {shares}; {gained} and {lost} of {pair.count} task-runs "
        f"solved by one alone, p = {pair.p:.2g}."
    )


def share(good: int, count: int) -> str:
    low, high = wilson(good, count)
    return f"{good} ({100 * low:.0f}-{100 * high:.0f} %)"


if __name__ == "__main__":
    sys.exit(main())
