"""Interprets a client's arguments: the target of a request, the runs of a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection.messages import RefineParams, position_of
from greenloop.lsp.documents import locations
from greenloop.lsp.runs.runs import Run

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def target(server: Server, place: locations.Place, params: RefineParams) -> Target:
    """The target of a refine request. Raises `JsonRpcInvalidParams` where there is nothing to refine."""
    if params.test is not None:
        found_target = locations.named(server, place.root, params.test)
        # An unknown test is left to the engine, which knows all tests and suggests the nearest.
        return found_target or Target(
            kind=TargetKind.TEST, path=place.path, qualname="", selector=params.test, start=1, end=1, name_line=1
        )
    assert params.position is not None
    found_target = locations.target_at(place, place.line(params.position.line))
    if found_target is None:
        raise JsonRpcInvalidParams("There is no test and no function here.")
    return found_target


def table(arguments: tuple[Any, ...]) -> Any:
    """The one object that a command expects; None for anything else."""
    return arguments[0] if len(arguments) == 1 else None


def chosen(server: Server, arguments: tuple[Any, ...]) -> Callable[[Run], bool]:
    """The predicate of a command's runs: all, those of a document, or those of its target or position.

    A position without a run selects the document's runs.
    """
    table_argument = table(arguments)
    if table_argument is None and not any(argument is not None for argument in arguments):
        return lambda _run: True
    if not isinstance(table_argument, Mapping) or not isinstance(table_argument.get("uri"), str):
        raise JsonRpcInvalidParams('Expected one object: {"uri"} or {"uri", "target"}, or nothing.')
    project_file = locations.of_or_none(server, table_argument["uri"])
    selector = table_argument.get("target")
    target_here = _at(project_file, table_argument) if selector is None else None
    if project_file is not None and target_here is not None:
        root, path, name = project_file.root, target_here.path, target_here.qualname
        if any(run.root == root and run.concerns(path, name) for run in server.runs):
            return lambda run: run.root == root and run.concerns(path, name)

    def is_meant(run: Run) -> bool:
        is_same_document = run.uri == table_argument["uri"]
        is_same_project = project_file is not None and run.root == project_file.root
        if selector is not None:
            # A run of a function is also offered at its tests, which may be in any file of the project.
            return run.target.selector == selector and (is_same_document or is_same_project)
        return is_same_document or (project_file is not None and is_same_project and _about(run, project_file.path))

    return is_meant


def _at(place: locations.Place | None, named: Mapping[str, Any]) -> Target | None:
    """The test or function at a command's position."""
    line = position_of(named)
    return locations.target_at(place, place.line(line)) if place is not None and line is not None else None


def where(server: Server, arguments: tuple[Any, ...]) -> tuple[Path | None, str | None, str | None]:
    """A command's folder, workspace path and target, as read by `run_filter`; None for those it does not name.

    For a document that is not in any project the folder and path match nothing.
    """
    table_argument = table(arguments)
    if not isinstance(table_argument, Mapping):
        return None, None, None
    project_file = locations.of_or_none(server, table_argument["uri"])
    return (project_file.root, project_file.path, table_argument.get("target")) if project_file else (Path(), "", None)


def _about(run: Run, path: str) -> bool:
    regions = run.started.problem.regions if run.started else ()
    return path == run.target.path or any(path == region.path for region in regions)


def offered(server: Server, arguments: tuple[Any, ...]) -> list[Run]:
    """The newest of a command's runs whose result is not applied yet, as a list of at most one."""
    is_meant = chosen(server, arguments)
    return [run for run in server.runs if is_meant(run) and run.offered][:1]
