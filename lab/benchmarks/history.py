#!/usr/bin/env python3
"""Makes the tasks of the development set: real fixes of public projects, for `greenloop bench`.

Run: python lab/benchmarks/history.py --clones FOLDER [--pythons FOLDER] [--only NAME ...] --out TASKS

history.toml has the recipes: for each project its repository and what its tests need, for each task the commit. FOLDER
has a clone of each project under its name in history.toml, with its whole history; it is only read. The interpreter
with what its tests need is FOLDER/NAME/bin/python of --pythons, or the clone's own `.venv`. Nothing is downloaded.
Tasks of earlier calls that are in the --out file are kept. Those that are held out are made with --held-out, and only
then. Each task is checked by running its tests before and after, in the sandbox; exit status 1: some could not be made.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tomllib
from pathlib import Path
from typing import Any

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.project import configuration
from greenloop.project.revisions.git import Repository
from greenloop_lab.bench import tasks
from greenloop_lab.bench.history import commits as history
from greenloop_lab.bench.history import git_history
from greenloop_lab.bench.history import tree as history_tree
from greenloop_lab.bench.tasks import Task

RECIPES = Path(__file__).parent / "history.toml"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True, help="folder with a clone of each project")
    parser.add_argument("--pythons", type=Path, help="folder with a virtual environment for each project")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this project (repeatable)")
    parser.add_argument("--held-out", action="store_true", help="make the tasks that are held out, and no others")
    parser.add_argument("--out", type=Path, required=True, metavar="TASKS", help="file for `greenloop bench TASKS`")
    arguments = parser.parse_args()
    made = {task.id: task for task in (tasks.read(arguments.out) if arguments.out.exists() else [])}
    failed = 0
    for project in tomllib.loads(RECIPES.read_text(encoding="utf-8"))["project"]:
        if arguments.only and project["name"] not in arguments.only:
            continue
        for recipe in project.get("task", ()):
            if recipe.get("held_out", False) is not arguments.held_out:
                continue
            commit = recipe["commit"]
            if any(task.commit == commit for task in made.values()):
                continue
            root = arguments.clones.absolute() / project["name"] / project.get("folder", "")
            python = arguments.pythons and arguments.pythons.absolute() / project["name"] / "bin" / "python"
            result = asyncio.run(make_task(recipe, root, {"interpreter": str(python)} if python else {}))
            if isinstance(result, str):
                failed += 1
                print(f"{project['name']} {commit[:12]}: {result}", flush=True)
                continue
            made[result.id] = result
            tasks.write(made.values(), arguments.out)
            print(f"{project['name']} {commit[:12]}: {result.kind}, {len(result.cases)} cases", flush=True)
    print(f"{len(made)} tasks in {arguments.out}, {failed} could not be made")
    return 1 if failed else 0


async def make_task(recipe: dict[str, Any], root: Path, table: dict[str, Any]) -> Task | str:
    """The task of a recipe of the clone, or why it cannot be made; `table` has settings by dotted key."""
    try:
        settings, _warnings = configuration.load(root, command_line=table)
        repository = Repository.find(root)
        (commit,) = git_history.read_commits(repository, recipe["commit"], most=1)
        interpreter = history_tree.find_interpreter(root, settings)
        tried = await history.try_commit(repository, commit, settings, interpreter)
    except (CannotVerifyError, UsageError, OSError) as error:
        return str(error)
    if tried.task is None:
        return f"{tried.reason} {tried.detail}".strip()
    functions = recipe.get("function")
    if functions and functions not in tried.task.functions:
        return f"it changes {', '.join(tried.task.functions)}, not {functions}"
    return tried.task


if __name__ == "__main__":
    sys.exit(main())
