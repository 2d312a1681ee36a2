#!/usr/bin/env python3
"""Makes tasks of slow functions for `greenloop bench TASKS --goal time`.

Run: python lab/benchmarks/improve.py KIND TASKS [--clones FOLDER]

The functions are those of improve.toml, in a project of their own each; with --clones those of improve_projects.toml,
in FOLDER/NAME, a clone with its history and a `.venv` with what its tests need. The solution of a task, with which
`--model oracle` answers, is by KIND:

better  a faster version that is right
wrong   a faster version that passes the shown test, and does something else elsewhere (not with --clones)
same    the slow version itself, with a statement more that does nothing: measures noise
"""

from __future__ import annotations

import argparse
import ast
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from greenloop.project.revisions.git import Repository
from greenloop_lab.bench import hidden_tests, tasks
from greenloop_lab.bench.history import git_history
from greenloop_lab.bench.tasks import Task

FUNCTIONS = Path(__file__).with_suffix(".toml")
PROJECTS = FUNCTIONS.with_name("improve_projects.toml")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("better", "wrong", "same"))
    parser.add_argument("out", type=Path, metavar="TASKS")
    parser.add_argument("--clones", type=Path, metavar="FOLDER", help="folder with a clone of each project")
    arguments = parser.parse_args()
    if arguments.clones is None:
        functions = tomllib.loads(FUNCTIONS.read_text(encoding="utf-8"))["task"]
        made = [make_task(each, arguments.kind) for each in functions]
    else:
        if arguments.kind == "wrong":
            parser.error("there are no wrong versions of functions of projects")
        recipes = tomllib.loads(PROJECTS.read_text(encoding="utf-8"))["project"]
        made = [make_project_task(each, arguments.kind, arguments.clones.absolute()) for each in recipes]
    tasks.write(made, arguments.out)


def make_task(function: dict[str, Any], kind: str) -> Task:
    """The task of a function of improve.toml; its hidden calls are compared with the slow version."""
    name, slow = function["name"], function["slow"]
    test = f"from m import {name}\n\n\ndef test_{name}():\n{textwrap.indent(function['test'], '    ')}"
    shown = f"test_m.py::test_{name}"
    hidden = [f"{hidden_tests.TESTS}::test_{number}" for number, _call in enumerate(function["hidden"], 1)]
    return Task(
        id=name,
        kind=kind,
        target=f"m.py::{name}",
        files={"m.py": slow, "test_m.py": test},
        cases=[shown, *hidden],
        shown=[shown],
        judge=hidden_tests.comparing_files(slow, "m", function["hidden"]),
        solution={"m.py": with_statement(slow, name) if kind == "same" else function[kind]},
        origin="lab/benchmarks/improve.toml",
        function=f"m.py::{name}",
    )


def make_project_task(recipe: dict[str, Any], kind: str, clones: Path) -> Task:
    """The task of a function of a project; its own test judges, and the calls of the recipe are measured."""
    repository = Repository.find(clones / recipe["name"])
    path, _, name = recipe["function"].partition("::")
    (commit,) = git_history.read_commits(repository, recipe["commit"], most=1)
    text = repository.output("show", f"{commit.parent}:{path}").decode()
    return Task(
        id=f"{recipe['name']}-{name}",
        kind=kind,
        target=recipe["function"],
        files={},
        cases=[recipe["test"]],
        solution={path: with_statement(text, name) if kind == "same" else with_function(text, name, recipe["better"])},
        folder=str(clones / recipe["name"]),
        origin="lab/benchmarks/improve_projects.toml",
        function=recipe["function"],
        commit=recipe["commit"],
        functions=[recipe["function"]],
        calls=recipe["calls"],
    )


def with_statement(text: str, name: str) -> str:
    """The text with a statement more in the function, which does nothing."""
    node = find_function(text, name)
    first = node.body[1 if ast.get_docstring(node) is not None else 0]
    lines = text.splitlines(keepends=True)
    lines.insert(first.lineno - 1, " " * first.col_offset + "unused = 0\n")
    return "".join(lines)


def with_function(text: str, name: str, new: str) -> str:
    """The text with another version of the function."""
    node = find_function(text, name)
    lines = text.splitlines(keepends=True)
    lines[node.lineno - 1 : node.end_lineno] = [new.strip("\n") + "\n"]
    return "".join(lines)


def find_function(text: str, name: str) -> ast.FunctionDef:
    """The last function of this name in a module: earlier ones are overloads of it."""
    return [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name][-1]


if __name__ == "__main__":
    main()
