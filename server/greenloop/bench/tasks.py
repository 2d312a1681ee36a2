"""What arms are measured on: tasks as data, one JSON line each.

A task is a small project of its own (`files` in an empty folder), or a folder of the user's with `files` laid over it
as an editor's unsaved texts are: the folder itself is never written.
The tests that judge never lie where the engine looks: `judge` holds what is laid over for them alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from greenloop.core.errors import UsageProblem


@dataclass(frozen=True, kw_only=True)
class Task:
    """One thing to solve.

    `target` is what the engine is asked for; `shown` are the cases it stands for, `cases` those that judge.
    `files` are the texts as the engine gets them, `judge` what is laid over them for judging, `solution` texts that
    pass, by the same paths. `folder` is empty where `files` are the whole project.
    `operators` say how a mutant was made, `origin` where the task comes from, `function` (`path::qualname`) what a
    mutant broke.
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

    @property
    def digest(self) -> str:
        """Tells whether two tasks of one id are the same."""
        told = {key: value for key, value in asdict(self).items() if key != "folder"}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]


def write(tasks: Iterable[Task], path: Path) -> None:
    """Raises `UsageProblem` where the file cannot be written."""
    text = "".join(json.dumps(asdict(task), ensure_ascii=False) + "\n" for task in tasks)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageProblem(f"{path} cannot be written: {error.strerror}.", remedy="Name another file.") from error


def read(path: Path) -> list[Task]:
    """Raises `UsageProblem` naming the first line that is no task."""
    found = []
    for number, row in rows(path):
        try:
            found.append(_task(row))
        except (TypeError, ValueError) as error:
            raise UsageProblem(
                f"Line {number} of {path} is no task: {error}.",
                remedy="Make the file with `greenloop bench --write-tasks FILE`.",
            ) from error
    return found


def _task(row: Mapping[str, Any]) -> Task:
    known = {item.name: item for item in fields(Task)}
    if unknown := set(row) - set(known):
        raise ValueError(f"it has the unknown key {min(unknown)!r}")
    if missing := next((name for name in ("id", "kind", "target", "files", "cases") if name not in row), None):
        raise ValueError(f"it lacks the key {missing!r}")
    for name in ("files", "judge", "solution"):
        if not isinstance(row.get(name, {}), dict):
            raise TypeError(f"{name!r} must map paths to texts")
    if not row["cases"]:
        raise ValueError("no case judges it")
    return Task(**row)


def rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Each line's number and object. Raises `UsageProblem` for what cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageProblem(
            f"{path} cannot be read: {why}.", remedy="Name a file with one JSON object a line."
        ) from error
    found: list[tuple[int, dict[str, Any]]] = []
    listed = _listed(text)
    for number, line in enumerate(text.split("\n"), 1) if listed is None else ():
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UsageProblem(f"Line {number} of {path} is not JSON: {error}.") from error
        if not isinstance(row, dict):
            raise UsageProblem(f"Line {number} of {path} is not a JSON object.")
        found.append((number, row))
    found += enumerate(listed or (), 1)
    if not found:
        raise UsageProblem(f"{path} is empty.", remedy="Name a file with one JSON object a line.")
    return found


def _listed(text: str) -> list[dict[str, Any]] | None:
    """The objects of a file that is one JSON list."""
    if not text.lstrip().startswith("[\n") and not text.lstrip().startswith("[{"):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if all(isinstance(each, dict) for each in value) else None
