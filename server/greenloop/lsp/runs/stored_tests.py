"""The tests made from a docstring: where they are stored, and writing those that are not stored yet."""

from __future__ import annotations

import contextlib
from pathlib import Path

from greenloop import api
from greenloop.core.records.spec import Region, Target, TargetKind
from greenloop.lsp.documents.locations import ProjectFile
from greenloop.lsp.state.run import Run


def tested_function(run: Run | None, file: ProjectFile, target: Target) -> Region | None:
    """The function with stored tests, or tests of its run: the target itself, or the one that its run changes."""
    if target.kind is TargetKind.FUNCTION:
        region = target.region
    elif run is not None and run.started is not None and run.started.problem.regions:
        region = run.started.problem.regions[0]
    else:
        return None
    with contextlib.suppress(OSError):
        if path_of(file.root, region.path, region.qualname).exists():
            return region
    return region if run and run.progress.specified and run.progress.specified.spec.files else None


def path_of(root: Path, path: str, qualname: str) -> Path:
    return api.generated_tests.stored_path(root, path, qualname)


def write(run: Run, file: ProjectFile, path: str, name: str) -> None:
    """Writes the run's tests to a file, where they are not stored yet."""
    specified = run.progress.specified
    if specified is None:
        return
    problem = run.started.problem if run.started else None
    text = (problem.files if problem else {file.path: file.text}).get(path) or ""
    target_region = Region(path=path, qualname=name, start=run.target.start, end=run.target.end)
    region = next((each for each in (problem.regions if problem else ()) if each.qualname == name), target_region)
    api.generated_tests.store(file.root, region, text, specified.spec)
