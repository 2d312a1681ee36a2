"""Version-pinned tasks: the same function against several versions of a package, each in an environment of its own.

A recipe (TOML or JSON Lines) names the environments, each by an interpreter or a folder of wheels, and the functions.
After GitChameleon (arXiv 2411.05830).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.core.errors import UsageError
from greenloop_lab.bench.loaders import functions
from greenloop_lab.bench.loaders.wheel_environment import make_environment
from greenloop_lab.bench.tasks import Task, read_rows

REMEDY = "An environment has a name, and an interpreter or a folder of wheels; see lab/docs/bench.md."


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The tables of a recipe, each with its number in the file."""

    environments: Sequence[tuple[int, Mapping[str, Any]]]
    tasks: Sequence[tuple[int, Mapping[str, Any]]]


def load(path: Path, *, shown: int = 1) -> list[Task]:
    """A task for each function in each environment that it names, or in all. Raises `UsageError`."""
    recipe = _read(path)
    interpreters = {_name(each, path, n): _interpreter(each, path, n) for n, each in recipe.environments}
    if not interpreters:
        raise UsageError(f"{path} names no environment.", remedy=REMEDY)
    tasks = []
    for number, row in recipe.tasks:
        chosen = row.get("environments", list(interpreters))
        unknown = next((name for name in chosen if name not in interpreters), None)
        if unknown is not None:
            raise UsageError(
                f"Task {number} of {path} names the environment {unknown!r}, which is not in it.",
                remedy=f"There are: {', '.join(interpreters)}.",
            )
        tasks += [_task(row, path, number, name, interpreters[name], shown) for name in chosen]
    return tasks


def _task(row: Mapping[str, Any], path: Path, number: int, name: str, interpreter: str, shown: int) -> Task:
    solution = row.get("solutions", {}).get(name, row.get("canonical_solution", ""))
    task = row.get("task_id") or f"{path.stem}-{number}"
    return functions.parse_row(
        {**row, "task_id": f"{task}-{re.sub(r'[^a-zA-Z0-9.]+', '-', name)}", "canonical_solution": solution},
        path,
        number,
        shown=shown,
        kind=f"version: {name}",
        interpreter=interpreter,
    )


def _read(path: Path) -> Recipe:
    if path.suffix != ".toml":
        rows = read_rows(path)
        return Recipe(
            environments=[(n, row) for n, row in rows if "prompt" not in row],
            tasks=[(n, row) for n, row in rows if "prompt" in row],
        )
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", remedy="Name a recipe.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}.", remedy=REMEDY) from error
    lists = [table.get(key, []) for key in ("environments", "tasks")]
    if not all(isinstance(each, list) and all(isinstance(row, dict) for row in each) for each in lists):
        raise UsageError(f"{path} must have tables [[environments]] and [[tasks]].", remedy=REMEDY)
    environments, tasks = (list(enumerate(each, 1)) for each in lists)
    return Recipe(environments=environments, tasks=tasks)


def _name(environment: Mapping[str, Any], path: Path, number: int) -> str:
    name = environment.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f"Environment {number} of {path} has no name.", remedy=REMEDY)
    return name


def _interpreter(environment: Mapping[str, Any], path: Path, number: int) -> str:
    """The interpreter, by its path from the recipe's folder; that of wheels is made where it does not exist yet."""
    named, wheels = environment.get("interpreter"), environment.get("wheels")
    if not (isinstance(named, str) ^ isinstance(wheels, str)):
        raise UsageError(f"Environment {number} of {path} needs either an interpreter or wheels.", remedy=REMEDY)
    if isinstance(wheels, str):
        return str(make_environment(path.parent / wheels))
    interpreter = (path.parent / str(named)).absolute()
    if not interpreter.is_file():
        raise UsageError(f"There is no interpreter {interpreter}.", remedy=REMEDY)
    return str(interpreter)
