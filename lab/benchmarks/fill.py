#!/usr/bin/env python3
"""Makes tasks of unwritten classes and modules for `greenloop bench TASKS`, from fill.toml.

Run: python lab/benchmarks/fill.py TASKS [--class]

The target of a task is the file of its shown tests; with --class it is the class, or the module where it has more than
one unwritten class. Where there are several modules, that is the last one, which uses the others. A task without a
skeleton, whose modules only its tests name, has no class to begin with.
"""

from __future__ import annotations

import argparse
import ast
import tomllib
from pathlib import Path
from typing import Any

from greenloop.project.syntax.definitions import unwritten_functions
from greenloop_lab.bench import tasks
from greenloop_lab.bench.tasks import Task

SKELETONS = Path(__file__).with_suffix(".toml")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="TASKS")
    parser.add_argument("--class", action="store_true", dest="of_class", help="the target is the class, not its tests")
    arguments = parser.parse_args()
    rows = tomllib.loads(SKELETONS.read_text(encoding="utf-8"))["task"]
    chosen = [each for each in rows if "skeleton" in each or not arguments.of_class]
    tasks.write([make_task(each, of_class=arguments.of_class) for each in chosen], arguments.out)


def make_task(row: dict[str, Any], *, of_class: bool = False) -> Task:
    """The task of a skeleton; the shown and the hidden tests judge."""
    files, shown, hidden = read_modules(row, "skeleton"), f"test_{row['name']}.py", f"test_{row['name']}_hidden.py"
    shown_cases = [f"{shown}::{each}" for each in find_tests(row["shown"])]
    return Task(
        id=row["name"],
        kind=("tests alone", "class")[len(files)] if len(files) < 2 else "several modules",
        target=find_class(*list(files.items())[-1]) if of_class else shown,
        files={**files, shown: row["shown"]},
        cases=[*shown_cases, *(f"{hidden}::{each}" for each in find_tests(row["hidden"]))],
        shown=shown_cases,
        judge={hidden: row["hidden"]},
        solution=read_modules(row, "solution"),
        origin="lab/benchmarks/fill.toml",
    )


def read_modules(row: dict[str, Any], key: str) -> dict[str, str]:
    """The texts of a task's modules by path: its `skeleton` (there may be none) or its `solution`."""
    value = row.get(key, {})
    return value if isinstance(value, dict) else {f"{row['name']}.py": value}


def find_tests(text: str) -> list[str]:
    """The names of a module's tests."""
    functions = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return [name for name in functions if name.startswith("test_")]


def find_class(path: str, text: str) -> str:
    """The target of a module's unwritten class; the module itself where it has several, or functions beside one."""
    owners = {each.owner for each in unwritten_functions(text)}
    return f"{path}::{min(owners)}" if len(owners) == 1 and "" not in owners else path


if __name__ == "__main__":
    main()
