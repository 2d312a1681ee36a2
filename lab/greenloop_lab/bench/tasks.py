"""Benchmark tasks as data, one JSON line each.

A task is a small project (`files` in an empty folder), or a user's folder with `files` laid over it like an editor's
unsaved texts: the folder itself is never written.
The engine never sees the tests that judge: `judge` has the files that are laid over only for their runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from greenloop.core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task.

    `target` is the engine's target; `shown` are its cases, `cases` those that judge.
    `files` are the texts that the engine gets, `judge` those laid over them for judging, `solution` texts that pass, by
    the same paths. `folder` is empty where `files` are the whole project.
    `operators` are those that made a mutant, `origin` is the source of the task, `function` (`path::qualname`) the
    mutated function.
    `commit` is that of a task of a repository's history: the project is the tree before this commit of the repository
    in `folder`, with the commit's own tests; `functions` are those that it changed, as `function` is written.
    `calls` of the target, one in each line, are measured in place of its tests where the goal is time or memory.
    `interpreter` is the Python of this task, in place of the one of the settings; `constraints` are those of its
    `spec.constraints`.
    """

    id: str
    kind: str
    target: str
    files: Mapping[str, str]
    cases: Sequence[str]
    shown: Sequence[str] = ()
    judge: Mapping[str, str] = field(default_factory=dict)
    solution: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    operators: Sequence[str] = ()
    origin: str = ""
    function: str = ""
    commit: str = ""
    functions: Sequence[str] = ()
    calls: str = ""
    interpreter: str = ""
    constraints: Sequence[str] = ()

    @property
    def digest(self) -> str:
        """A hash that differs for different tasks of one id."""
        content = {key: value for key, value in asdict(self).items() if key not in {"folder", "interpreter"}}
        if not self.commit:  # tasks of other kinds keep the hash that they had before there were these fields
            del content["commit"], content["functions"]
        if not self.calls:
            del content["calls"]
        if not self.constraints:
            del content["constraints"]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def write(tasks: Iterable[Task], path: Path) -> None:
    """Writes tasks to a file. Raises `UsageError` where it cannot be written."""
    text = "".join(json.dumps(asdict(task), ensure_ascii=False) + "\n" for task in tasks)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", remedy="Name another file.") from error


def read(path: Path) -> list[Task]:
    """Reads a file of tasks. Raises `UsageError` naming the first invalid line."""
    tasks = []
    for number, row in read_rows(path):
        try:
            tasks.append(_task(row))
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"Line {number} of {path} is not a task: {error}.",
                remedy="Make the file with `greenloop bench --write-tasks FILE`.",
            ) from error
    return tasks


def _task(row: Mapping[str, Any]) -> Task:
    task_fields = {item.name: item for item in fields(Task)}
    if unknown := set(row) - set(task_fields):
        raise ValueError(f"it has the unknown key {min(unknown)!r}")
    if missing := next((name for name in ("id", "kind", "target", "files", "cases") if name not in row), None):
        raise ValueError(f"it lacks the key {missing!r}")
    for name in ("files", "judge", "solution"):
        if not isinstance(row.get(name, {}), dict):
            raise TypeError(f"{name!r} must map paths to texts")
    if not row["cases"]:
        raise ValueError("no case judges it")
    return Task(**row)


def read_rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The number and the object of each line. Raises `UsageError` for a file that cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageError(
            f"{path} cannot be read: {reason}.", remedy="Name a file with one JSON object per line."
        ) from error
    numbered: list[tuple[int, dict[str, Any]]] = []
    list_items = _check_list(text)
    for number, line in enumerate(text.split("\n"), 1) if list_items is None else ():
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UsageError(f"Line {number} of {path} is not JSON: {error}.") from error
        if not isinstance(row, dict):
            raise UsageError(f"Line {number} of {path} is not a JSON object.")
        numbered.append((number, row))
    numbered += enumerate(list_items or (), 1)
    if not numbered:
        raise UsageError(f"{path} is empty.", remedy="Name a file with one JSON object per line.")
    return numbered


def _check_list(text: str) -> list[dict[str, Any]] | None:
    """The objects of a file that is one JSON list; None for another file."""
    if not text.lstrip().startswith("[\n") and not text.lstrip().startswith("[{"):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if all(isinstance(each, dict) for each in value) else None
