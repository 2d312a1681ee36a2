"""Where tasks come from: names on the command line become tasks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.bench import mbpp, mutants, projects, tasks
from greenloop.bench.arms import settings_for
from greenloop.bench.tasks import Task
from greenloop.core.errors import UsageProblem

Say = Callable[[str], None]
MUTANTS = 10


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What tasks are asked for. `exclude` are files of results or tasks whose tasks are not to come again.

    `sample` and `shown` None: as is usual for the kind.
    """

    names: Sequence[str]
    sample: int | None = None
    seed: int = 7
    exclude: Sequence[Path] = ()
    only: Sequence[str] = ()
    shown: int | None = None
    lines: int = 1
    levels: Sequence[str] = (mbpp.FULL,)


async def tasks_of(wanted: Wanted, table: Mapping[str, Any], say: Say) -> list[Task]:
    """Raises `UsageProblem` for what is no source of tasks, or has none."""
    if (wanted.sample is not None and wanted.sample < 0) or (wanted.shown is not None and wanted.shown < 1):
        raise UsageProblem("--sample must be at least 0 and --shown at least 1.")
    used = excluded(wanted.exclude)
    found: list[Task] = []
    for name in wanted.names:
        found += await _of(name, wanted, used, table, say)
    if wanted.only:
        known = {task.id: task for task in found}
        if unknown := next((name for name in wanted.only if name not in known), None):
            raise UsageProblem(f"There is no task '{unknown}' among the {len(found)} tasks.")
        found = [task for task in found if task.id in wanted.only]
    if not found:
        raise UsageProblem("There is no task left to run.", remedy="Draw more with --sample, or exclude less.")
    ids = [task.id for task in found]
    if twice := next((name for name in ids if ids.count(name) > 1), None):
        raise UsageProblem(f"The task '{twice}' is there twice.", remedy="Name each source once.")
    return found


def _drafts(path: Path, level: str, wanted: Wanted, used: set[str]) -> list[Task]:
    rows = [row for row in mbpp.load(path, level) if f"mbpp-{row.number}" not in used]
    drawn = mbpp.sample(rows, wanted.sample or 0, wanted.seed)
    return [mbpp.task(row, shown=wanted.shown or 1, level=level) for row in drawn]


async def _of(name: str, wanted: Wanted, used: set[str], table: Mapping[str, Any], say: Say) -> list[Task]:
    kind, colon, rest = name.partition(":")
    if kind == "mbpp" and colon:
        return [task for level in wanted.levels for task in _drafts(Path(rest), level, wanted, used)]
    path = Path(rest if kind == "mutants" and colon else name)
    if not path.exists():  # noqa: ASYNC240 - nothing else is under way
        raise UsageProblem(
            f"There is no {path}.",
            remedy="Tasks come from mbpp:FILE, mutants:FILE, mutants:FOLDER, a folder, or a file of --write-tasks.",
        )
    if path.is_dir():  # noqa: ASYNC240
        return await projects.of_folder(
            path,
            settings_for(table, path),
            count=wanted.sample if wanted.sample is not None else MUTANTS,
            lines=wanted.lines,
            seed=wanted.seed,
            unwanted=lambda family: any(each.startswith(family) for each in used),
            say=say,
        )
    if kind == "mutants" and colon:
        return await mutants.of_rows(
            mbpp.load(path),
            settings_for(table, None),
            count=wanted.sample if wanted.sample is not None else MUTANTS,
            lines=wanted.lines,
            seed=wanted.seed,
            shown=wanted.shown,
            unwanted=lambda family: any(each.startswith(family) for each in used),
            say=say,
        )
    return [task for task in tasks.read(path) if task.id not in used]


def excluded(paths: Sequence[Path]) -> set[str]:
    """The ids of the tasks in files of tasks or of results; one that was told otherwise counts as the same."""
    ids = {str(row.get("task") or row.get("id")) for path in paths for row in _lines(path)}
    return ids | {each.rpartition("-")[0] for each in ids if each.rpartition("-")[2] in mbpp.LEVELS}


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read: {error.strerror}.", remedy="Name results or tasks.") from error
    found = []
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # cut off by a kill
        if isinstance(row, dict):
            found.append(row)
    return found
