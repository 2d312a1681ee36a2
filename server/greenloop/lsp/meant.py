"""What a message of the client means: the target of a request, the runs of a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.nouns import Target, TargetKind
from greenloop.lsp import places
from greenloop.lsp.protocol import RefineParams, position_of
from greenloop.lsp.runs import Run

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


def target(server: Server, place: places.Place, params: RefineParams) -> Target:
    """Raises `JsonRpcInvalidParams` when there is nothing to refine there."""
    if params.test is not None:
        found = places.named(server, place.root, params.test)
        # What is not found is left to the engine, which knows what exists and names the nearest.
        return found or Target(
            kind=TargetKind.TEST, path=place.path, qualname="", selector=params.test, start=1, end=1, name_line=1
        )
    assert params.position is not None
    found = places.target_at(place, place.line(params.position.line))
    if found is None:
        raise JsonRpcInvalidParams("There is no test and no function here.")
    return found


def table(arguments: tuple[Any, ...]) -> Any:
    """The one object that a command takes; None for anything else."""
    return arguments[0] if len(arguments) == 1 else None


def chosen(server: Server, arguments: tuple[Any, ...]) -> Callable[[Run], bool]:
    """Which runs a command means: all, those about a document, or those of its target or of the one at its position.

    A position without any run is the document's.
    """
    named = table(arguments)
    if named is None and not any(argument is not None for argument in arguments):
        return lambda _run: True
    if not isinstance(named, Mapping) or not isinstance(named.get("uri"), str):
        raise JsonRpcInvalidParams('Expected one object: {"uri"} or {"uri", "target"}, or nothing.')
    place = places.of_or_none(server, named["uri"])
    wanted = named.get("target")
    here = _at(place, named) if wanted is None else None
    if place is not None and here is not None:
        root, path, name = place.root, here.path, here.qualname
        if any(run.root == root and run.concerns(path, name) for run in server.runs):
            return lambda run: run.root == root and run.concerns(path, name)

    def is_meant(run: Run) -> bool:
        from_here = run.uri == named["uri"]
        in_project = place is not None and run.root == place.root
        if wanted is not None:
            # A run of a function is also offered at its tests, which may stand in any file of the project.
            return run.target.selector == wanted and (from_here or in_project)
        return from_here or (place is not None and in_project and _about(run, place.path))

    return is_meant


def _at(place: places.Place | None, named: Mapping[str, Any]) -> Target | None:
    """The test or function at the position that a command names."""
    line = position_of(named)
    return places.target_at(place, place.line(line)) if place is not None and line is not None else None


def where(server: Server, arguments: tuple[Any, ...]) -> tuple[Path | None, str | None, str | None]:
    """Folder, workspace path and target that a command names as `chosen` reads it; None for whichever it leaves open.

    What is no file of any folder is looked for in vain.
    """
    named = table(arguments)
    if not isinstance(named, Mapping):
        return None, None, None
    place = places.of_or_none(server, named["uri"])
    return (place.root, place.path, named.get("target")) if place else (Path(), "", None)


def _about(run: Run, path: str) -> bool:
    regions = run.started.problem.regions if run.started else ()
    return path == run.target.path or any(path == region.path for region in regions)


def offered(server: Server, arguments: tuple[Any, ...]) -> list[Run]:
    """The newest of those runs whose result waits to be applied."""
    is_meant = chosen(server, arguments)
    return [run for run in server.runs if is_meant(run) and run.offered][:1]
