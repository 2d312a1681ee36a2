"""Collects tasks from the sources named on the command line."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.core.errors import UsageError
from greenloop_lab.bench import mbpp, projects, tasks
from greenloop_lab.bench.history import commits as history
from greenloop_lab.bench.loaders import functions, instructions, versions
from greenloop_lab.bench.mutation import mutants
from greenloop_lab.bench.mutation.mutate_project import MutantRequest
from greenloop_lab.bench.plans import settings_for
from greenloop_lab.bench.tasks import Task

ReportStatus = Callable[[str], None]
MUTANTS = 10
LOADERS = {"file": functions.load, "instructions": instructions.load, "versions": versions.load}


@dataclass(frozen=True, kw_only=True)
class TaskSelection:
    """The requested tasks. `exclude` are files of results or tasks whose tasks are left out.

    `sample` and `shown` None: the default for the kind of task. `commits` bounds what is read of a history, `records`
    is the file that remembers what was tried of it.
    """

    names: Sequence[str]
    sample: int | None = None
    seed: int = 7
    exclude: Sequence[Path] = ()
    only_ids: Sequence[str] = ()
    shown: int | None = None
    breadth: int = 1
    depth: int = 1
    levels: Sequence[str] = (mbpp.FULL,)
    commits: int = history.COMMITS
    records: Path | None = None


async def collect_tasks(
    selection: TaskSelection, settings: Mapping[str, Any], report_status: ReportStatus
) -> list[Task]:
    """The selected tasks. Raises `UsageError` for an unknown source, or one without tasks."""
    if (selection.sample is not None and selection.sample < 0) or (selection.shown is not None and selection.shown < 1):
        raise UsageError("--sample must be at least 0 and --shown at least 1.")
    excluded_ids = read_excluded_ids(selection.exclude)
    collected: list[Task] = []
    for name in selection.names:
        collected += await _from_source(name, selection, excluded_ids, settings, report_status)
    if selection.only_ids:
        by_id = {task.id: task for task in collected}
        if unknown := next((name for name in selection.only_ids if name not in by_id), None):
            raise UsageError(f"There is no task '{unknown}' among the {len(collected)} tasks.")
        collected = [task for task in collected if task.id in selection.only_ids]
    if not collected:
        raise UsageError("There is no task left to run.", remedy="Draw more tasks with --sample, or exclude fewer.")
    ids = [task.id for task in collected]
    if duplicate := next((name for name in ids if ids.count(name) > 1), None):
        raise UsageError(f"The task '{duplicate}' occurs twice.", remedy="Name each source once.")
    return collected


def _mbpp_rows(path: Path, level: str, wanted: TaskSelection, used: set[str]) -> list[Task]:
    rows = [row for row in mbpp.load(path, level) if f"mbpp-{row.number}" not in used]
    drawn = mbpp.draw_sample(rows, wanted.sample or 0, wanted.seed)
    return [mbpp.make_task(row, shown=wanted.shown or 1, level=level) for row in drawn]


async def _from_source(
    name: str, wanted: TaskSelection, used: set[str], table: Mapping[str, Any], report_status: ReportStatus
) -> list[Task]:
    kind, colon, rest = name.partition(":")
    if kind == "mbpp" and colon:
        return [task for level in wanted.levels for task in _mbpp_rows(Path(rest), level, wanted, used)]
    if kind in LOADERS and colon:
        loaded = [task for task in LOADERS[kind](Path(rest), shown=wanted.shown or 1) if task.id not in used]
        return _draw(loaded, wanted)
    if kind == "history" and colon:
        return await _from_history(rest, wanted, used, table, report_status)
    path = Path(rest if kind == "mutants" and colon else name)
    if not path.exists():  # noqa: ASYNC240 - nothing else is running
        raise UsageError(
            f"There is no {path}.",
            remedy="Tasks come from mbpp:FILE, mutants:FILE, mutants:FOLDER, history:REPO, file:FILE, "
            "instructions:FILE, versions:FILE, a folder, or a file of --write-tasks.",
        )
    request = MutantRequest(
        count=wanted.sample if wanted.sample is not None else MUTANTS,
        breadth=wanted.breadth,
        depth=wanted.depth,
        seed=wanted.seed,
        shown=wanted.shown,
        is_excluded=lambda family: any(each.startswith(family) for each in used),
        report_status=report_status,
    )
    if path.is_dir():  # noqa: ASYNC240
        return await projects.from_folder(path, settings_for(table, path), request)
    if kind == "mutants" and colon:
        return await mutants.from_rows(mbpp.load(path), settings_for(table, None), request)
    return _draw([task for task in tasks.read(path) if task.id not in used], wanted)


def _draw(loaded: list[Task], wanted: TaskSelection) -> list[Task]:
    """`--sample` tasks of a file in a random order; without it all, in the order of the file."""
    if not wanted.sample:
        return loaded
    return random.Random(wanted.seed).sample(loaded, min(wanted.sample, len(loaded)))  # noqa: S311


async def _from_history(
    name: str, wanted: TaskSelection, used: set[str], table: Mapping[str, Any], report_status: ReportStatus
) -> list[Task]:
    folder, revisions = history.split_source(name)
    request = history.HistoryRequest(
        count=wanted.sample if wanted.sample is not None else MUTANTS,
        revisions=revisions,
        commits=wanted.commits,
        records=wanted.records,
        is_excluded=lambda task: task in used,
        report_status=report_status,
    )
    return await history.from_history(folder, settings_for(table, folder), request)


def read_excluded_ids(paths: Sequence[Path]) -> set[str]:
    """The ids in files of tasks or results; another level of description counts as the same task."""
    ids = {str(row.get("task") or row.get("id")) for path in paths for row in _read_lines(path)}
    return ids | {each.rpartition("-")[0] for each in ids if each.rpartition("-")[2] in mbpp.LEVELS}


def _read_lines(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", remedy="Name results or tasks.") from error
    objects = []
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # cut off by a kill
        if isinstance(row, dict):
            objects.append(row)
    return objects
